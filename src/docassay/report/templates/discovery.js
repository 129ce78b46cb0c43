"use strict";
/* The page of a discovery evaluation. Its whole state is the address's query, so that a link shows what its sender saw. */
(() => {
  const ROWS = 100;
  const TABS = ["findings", "labels", "tasks"];
  const FILTERS = {
    findings: [["judge", "Judge"], ["support", "Support"], ["task", "Task"]],
    labels: [["judge", "Judge"], ["agreement", "Claim and checker"], ["claimed", "Claimed"], ["checked", "Checked"], ["finding_id", "Finding"], ["condition_id", "Condition"], ["task_id", "Task"]],
    tasks: [["judge", "Judge"], ["task", "Task"]],
  };
  const PARTINGS = {
    agree: "Gate and label error agree.",
    gate_stricter: "The gate is stricter than the label-error estimate; the gate decides the score.",
    label_error_stricter: "The label-error estimate is stricter than the gate; the gate decides the score.",
  };
  let state = null;
  let listed = { total: 0, offset: 0, rows: [] };
  let asking = new AbortController();

  const readState = () => {
    const query = new URLSearchParams(location.search);
    const tab = TABS.includes(query.get("tab")) ? query.get("tab") : "findings";
    const filters = {};
    for (const [name] of FILTERS[tab]) if (query.get(name)) filters[name] = query.get(name);
    return { tab, filters, q: query.get("q") || "", page: Math.max(1, Number(query.get("page")) || 1), id: query.has("id") ? Number(query.get("id")) : null };
  };
  const filterParams = () => {
    const params = new URLSearchParams(state.filters);
    if (state.q) params.set("q", state.q);
    return params;
  };
  const go = (changes, { replace = false } = {}) => {
    const filtered = "filters" in changes || "q" in changes || "tab" in changes;
    Object.assign(state, filtered ? { page: 1 } : {}, changes);
    const params = filterParams();
    if (state.tab !== "findings") params.set("tab", state.tab);
    if (state.page > 1) params.set("page", state.page);
    if (state.id !== null) params.set("id", state.id);
    const query = params.toString();
    history[replace ? "replaceState" : "pushState"](null, "", query ? `?${query}` : location.pathname);
    return show();
  };
  const show = async () => {
    asking.abort();
    asking = new AbortController();
    untell();
    if (document.activeElement !== $("text")) $("text").value = state.q;
    for (const tab of TABS) {
      const chosen = state.tab === tab;
      $(`tab-${tab}`).setAttribute("aria-selected", String(chosen));
      $(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
      if (chosen) $("list").setAttribute("aria-labelledby", `tab-${tab}`);
    }
    try { await Promise.all([showRows(asking.signal), showDetail(asking.signal)]); } catch (error) { tell(error); }
  };

  const figure = (quality, why) => el("span", {}, quality.value === null ? missing(why) : quality.value, quality.bounds ? el("small", { class: "cut" }, ` ${quality.bounds}`) : null);
  const support = (name) => name === null ? missing("no blind check") : el("span", { class: `support ${name}` }, name);
  const row = (action, ...cells) => el("tr", { tabindex: -1, on: { click: action, keydown: (event) => { if (event.key === "Enter" && event.target === event.currentTarget) action(); } } }, ...cells);
  const td = (child, cls) => el("td", { class: cls }, child);

  const TABLES = {
    findings: {
      head: ["task", "finding", "quality", "support", "labels", "gates", "claim"],
      row: (one) => {
        const line = row(() => go({ id: one.id }), el("th", { scope: "row" }, bdi(one.shown_task, "id")), td(bdi(one.finding_id, "id")), td(figure(one.quality, "uncertain"), "n"), td(support(one.support)),
          td(one.labels === null ? missing("no estimate") : one.labels), td(one.gates.length ? one.gates.join(", ") : "none fired"), td(el("span", { class: "clamp" }, bdi(one.claim)), "claim"));
        line.dataset.id = one.id;
        return line;
      },
    },
    labels: {
      head: ["document", "condition", "claimed", "checked", "", "what the checker cites, or how the text begins", "audited with"],
      row: (one) => el("tr", {}, el("th", { scope: "row" }, bdi(one.doc_id, "id")), td(bdi(one.condition_id)), td(one.claimed), td(one.checked), td(one.agreement, one.agreement === "differ" ? "bad" : null),
        td(one.quote ? el("mark", { class: "came" }, bdi(one.quote)) : bdi(one.excerpt)), td(one.quoted ? "certainty: quoted" : one.inclusion, "n")),
    },
    tasks: {
      head: ["task", "judge", "kind", "status", "quality", "findings", "reason"],
      row: (one) => row(() => go({ tab: "findings", filters: { judge: one.judge, task: one.task } }), el("th", { scope: "row" }, bdi(one.shown_task, "id")), td(bdi(one.judge)), td(one.kind.replaceAll("_", " ")),
        td(one.status.replaceAll("_", " "), ["scored", "abstained"].includes(one.status) ? null : "bad"), td(figure(one.quality, "none"), "n"), td(grouped(one.findings), "n"), td(one.reason === null ? "" : bdi(one.reason), "why")),
    },
  };

  const showRows = async (signal) => {
    const params = filterParams();
    params.set("limit", ROWS);
    params.set("offset", (state.page - 1) * ROWS);
    listed = await ask(state.tab, params, signal);
    state.page = Math.floor(listed.offset / ROWS) + 1;
    const last = listed.offset + listed.rows.length;
    $("status").textContent = listed.total ? `${grouped(listed.offset + 1)}–${grouped(last)} of ${grouped(listed.total)} ${state.tab}` : `no ${state.tab} pass these filters`;
    const pages = Math.max(1, Math.ceil(listed.total / ROWS));
    $("pages").textContent = `page ${grouped(state.page)} of ${grouped(pages)}`;
    $("previous").disabled = state.page === 1;
    $("next").disabled = state.page === pages;
    const table = TABLES[state.tab];
    $("rows").querySelector("thead").replaceChildren(el("tr", {}, ...table.head.map((title) => el("th", { scope: "col" }, title))));
    $("rows").querySelector("tbody").replaceChildren(...listed.rows.map(table.row));
    drawFacets();
    markCurrent();
  };

  const drawFacets = () => {
    $("facets").replaceChildren(...FILTERS[state.tab].filter(([name]) => listed.counts[name].length > 1 || state.filters[name]).map(([name, title]) =>
      el("fieldset", {}, el("legend", {}, title), el("div", { class: "facet long" }, ...listed.counts[name].map(([given, shown, count]) => {
        const chosen = state.filters[name] === given;
        const click = () => {
          const filters = { ...state.filters };
          if (chosen) delete filters[name]; else filters[name] = given;
          go({ filters });
        };
        return el("button", { type: "button", class: "choice", "aria-pressed": chosen, on: { click } }, bdi(shown), el("span", { class: "number" }, grouped(count)));
      })))));
  };

  const markCurrent = () => {
    const rows = [...$("rows").querySelectorAll("tbody tr[tabindex]")];
    for (const one of rows) {
      const current = state.tab === "findings" && state.id !== null && one.dataset.id === String(state.id);
      one.classList.toggle("current", current);
      if (current) one.setAttribute("aria-current", "true"); else one.removeAttribute("aria-current");
      one.tabIndex = -1;
    }
    const focusable = rows.find((one) => one.classList.contains("current")) || rows[0];
    if (focusable) focusable.tabIndex = 0;
  };

  const showDetail = async (signal) => {
    $("detail").hidden = state.id === null;
    document.body.classList.toggle("with-detail", state.id !== null);
    if (state.id === null) return;
    const one = await ask("finding", new URLSearchParams({ id: state.id }), signal);
    $("detail-title").replaceChildren(bdi(one.title, "id"));
    const labels = (agreement) => go({ tab: "labels", filters: { judge: one.judge, task_id: one.task, finding_id: one.finding, ...(agreement ? { agreement } : {}) } });
    const link = (text, agreement) => el("button", { type: "button", on: { click: () => labels(agreement) } }, text);
    $("detail-body").replaceChildren(...[
      el("blockquote", {}, bdi(one.claim)),
      el("dl", { class: "facts" },
        fact("quality", figure(one.quality, "uncertain")), fact("judge", support(one.supports.judge)), fact("gate allows", support(one.supports.gate)), fact("effective", support(one.supports.effective)),
        one.zero_reason ? fact("zero because", one.zero_reason.replaceAll("_", " ")) : null,
        ...one.dimensions.map(([name, number]) => fact(name, String(number)))),
      para("The judge", bdi(one.rationale)),
      one.supports.gate === null ? null : para("The gates", one.gates.length ? "" : "no test fired"),
      one.gates.length ? el("ul", {}, ...one.gates.map((sentence) => el("li", {}, bdi(sentence)))) : null,
      one.worth ? para("What the labels are worth", bdi(`${one.worth} ${PARTINGS[one.parting] || ""}`)) : null,
      el("h3", {}, "Partition"),
      ...one.conditions.map(condition),
      one.labels.audited ? el("p", { class: "links" }, link(`${grouped(one.labels.audited)} audited labels`), " ", link(`${grouped(one.labels.differ)} differ`, "differ"), " ", link(`${grouped(one.labels.agree)} agree`, "agree")) : null,
      one.evidence.length ? el("h3", {}, "Quotes in context") : null,
      ...one.evidence.map((quote) => el("p", { class: "quote" }, el("span", { class: "role" }, quote.role), " ", bdi(quote.doc, "id"), el("br"), el("span", { class: "cut" }, quote.before), el("mark", { class: "came" }, bdi(quote.quote)), el("span", { class: "cut" }, quote.after))),
      one.limitations.length ? el("h3", {}, "Limitations the submission states") : null,
      one.limitations.length ? el("ul", {}, ...one.limitations.map((text) => el("li", {}, bdi(text)))) : null,
    ].filter((part) => part !== null));
    $("detail").scrollTop = 0;
    markCurrent();
  };
  const fact = (name, child) => el("div", {}, el("dt", {}, name), el("dd", {}, child));
  const para = (title, child) => el("p", {}, el("strong", {}, `${title}: `), child);
  const condition = (one) => el("section", { class: "condition", "aria-label": "condition" },
    el("p", {}, el("strong", {}, bdi(one.id)), `: ${one.partition[0]} positive, ${one.partition[1]} negative, ${one.partition[2]} unknown`),
    el("p", { class: "why" }, "included: ", bdi(one.inclusion), el("br"), "excluded: ", bdi(one.exclusion)),
    one.claimed === null && one.corrected === null ? null : el("p", {}, `rate claimed ${one.claimed ?? "—"}, on the checker's labels ${one.corrected ?? "not estimated"}; labels that differ ${one.differ ?? "not estimated"}`));

  const step = async (forward) => {
    try {
      const all = await ask("findings", new URLSearchParams([...filterParamsOfFindings(), ["limit", 500]]));
      const ids = all.rows.map((one) => one.id);
      const at = ids.indexOf(state.id);
      const to = at < 0 ? (forward ? 0 : ids.length - 1) : at + (forward ? 1 : -1);
      if (ids[to] === undefined) $("status").textContent = `no ${forward ? "next" : "previous"} finding among these`;
      else await go({ id: ids[to] });
    } catch (error) { tell(error); }
  };
  const filterParamsOfFindings = () => (state.tab === "findings" ? filterParams() : new URLSearchParams());
  const close = () => go({ id: null }, { replace: true });

  const KEYS = {
    j: () => step(true), k: () => step(false),
    n: () => { if (!$("next").disabled) go({ page: state.page + 1 }); },
    p: () => { if (!$("previous").disabled) go({ page: state.page - 1 }); },
    "/": () => $("text").focus(),
    "?": () => $("help").showModal(),
    Escape: () => { if (state.id !== null) close(); },
  };

  const start = async () => {
    setUpTheme();
    state = readState();
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && event.target === $("text")) { $("text").blur(); return; }
      const action = KEYS[event.key];
      if (!action || typing(event)) return;
      event.preventDefault();
      action();
    });
    $("text").addEventListener("input", debounced(150, () => go({ q: $("text").value }, { replace: true })));
    $("clear").addEventListener("click", () => { $("text").value = ""; go({ filters: {}, q: "" }); });
    TABS.forEach((tab, place) => {
      $(`tab-${tab}`).addEventListener("click", () => go({ tab, filters: {} }));
      $(`tab-${tab}`).addEventListener("keydown", (event) => {
        const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (!by) return;
        const other = TABS[(place + by + TABS.length) % TABS.length];
        go({ tab: other, filters: {} });
        $(`tab-${other}`).focus();
      });
    });
    $("previous").addEventListener("click", () => go({ page: state.page - 1 }));
    $("next").addEventListener("click", () => go({ page: state.page + 1 }));
    $("step-previous").addEventListener("click", () => step(false));
    $("step-next").addEventListener("click", () => step(true));
    $("close").addEventListener("click", close);
    $("show-help").addEventListener("click", () => $("help").showModal());
    $("copy-link").addEventListener("click", async () => {
      await navigator.clipboard.writeText(location.href);
      $("status").textContent = "link copied";
    });
    addEventListener("popstate", () => { state = readState(); show(); });
    if (matchMedia("(max-width: 60rem)").matches) $("filters").open = false;
    try {
      const run = await ask("run", "");
      $("run-name").textContent = run.name;
      document.title = `${run.name} · docassay view`;
      const means = run.quality.map((one) => `${one.judge}: quality ${one.mean}`).join(", ");
      $("run-facts").textContent = `${means} (mean over scored tasks) · ${grouped(run.tasks.length)} tasks · ${grouped(run.findings)} findings · ${grouped(run.labels)} audited labels`;
      await show();
      document.body.dataset.ready = "true";
    } catch (error) { tell(error); }
  };
  start();
})();
