"use strict";
/* The page of an extraction run. Its whole state is the address's query, so that a link shows what its sender saw. */
(() => {
  const ROWS = 100;
  const COLUMNS = [["document", "doc_id"], ["address", "address"], ["verdict", "verdict"], ["ground truth", "gold_raw"], ["prediction", "pred_raw"]];
  const DOCUMENT_COLUMNS = [["document", "doc_id"], ["suite", ""], ["status", ""], ["accuracy", "accuracy"], ["wrong", "wrong"], ["reason", ""]];
  let run = null;
  let state = null;
  let listed = { total: 0, offset: 0, rows: [] };
  let tree = { document: null, only: null, lines: [], seen: [], folded: new Set(), current: null };
  let pdf = { document: null, page: 0, pages: 0, boxes: [] };
  let asking = new AbortController();

  const readState = () => {
    const query = new URLSearchParams(location.search);
    return {
      tab: query.get("tab") === "documents" ? "documents" : "verdicts",
      verdict: query.getAll("verdict"),
      field: query.get("field") || "",
      suite: query.get("suite") || "",
      document: query.get("document") || "",
      q: query.get("q") || "",
      sort: query.get("sort") || "",
      page: Math.max(1, Number(query.get("page")) || 1),
      id: query.has("id") ? Number(query.get("id")) : null,
    };
  };

  const filterParams = () => {
    const params = new URLSearchParams();
    for (const verdict of state.verdict) params.append("verdict", verdict);
    for (const name of ["field", "suite", "document", "q"]) if (state[name]) params.set(name, state[name]);
    return params;
  };

  const stateParams = () => {
    const params = filterParams();
    if (state.tab !== "verdicts") params.set("tab", state.tab);
    if (state.sort) params.set("sort", state.sort);
    if (state.page > 1) params.set("page", state.page);
    if (state.id !== null) params.set("id", state.id);
    return params;
  };

  const write = (replace) => {
    const query = stateParams().toString();
    history[replace ? "replaceState" : "pushState"](null, "", query ? `?${query}` : location.pathname);
  };

  /* Change the state, keep it in the address, and show what follows from it. */
  const go = (changes, { replace = false } = {}) => {
    const before = filterParams().toString();
    Object.assign(state, changes);
    const filtered = before !== filterParams().toString();
    if (filtered && !("page" in changes)) state.page = 1;
    write(replace);
    return show(filtered);
  };

  const show = async (filtered = true) => {
    asking.abort();
    asking = new AbortController();
    untell();
    syncControls();
    try {
      await Promise.all([showRows(asking.signal), filtered ? showFacets(asking.signal) : null, showDetail(asking.signal)]);
    } catch (error) { tell(error); }
  };

  const syncControls = () => {
    if (document.activeElement !== $("text")) $("text").value = state.q;
    for (const tab of ["verdicts", "documents"]) {
      const chosen = state.tab === tab;
      $(`tab-${tab}`).setAttribute("aria-selected", String(chosen));
      $(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
      if (chosen) $("list").setAttribute("aria-labelledby", `tab-${tab}`);
    }
  };

  /* Rows */
  const showRows = async (signal) => {
    const params = filterParams();
    params.set("limit", ROWS);
    params.set("offset", (state.page - 1) * ROWS);
    if (state.sort) params.set("sort", state.sort);
    const name = state.tab === "documents" ? "documents" : "verdicts";
    listed = await ask(name, params, signal);
    state.page = Math.floor(listed.offset / ROWS) + 1;
    const what = name === "documents" ? "documents" : "values";
    const last = listed.offset + listed.rows.length;
    $("status").textContent = listed.total
      ? `${grouped(listed.offset + 1)}–${grouped(last)} of ${grouped(listed.total)} ${what}`
      : `no ${what} pass these filters`;
    const pages = Math.max(1, Math.ceil(listed.total / ROWS));
    $("page").value = state.page;
    $("page").max = pages;
    $("pages").textContent = `of ${grouped(pages)}`;
    for (const [id, off] of [["first", state.page === 1], ["previous", state.page === 1], ["next", state.page === pages], ["last", state.page === pages]])
      $(id).disabled = off;
    drawHead(name === "documents" ? DOCUMENT_COLUMNS : COLUMNS);
    $("rows").querySelector("tbody").replaceChildren(...listed.rows.map(name === "documents" ? documentRow : verdictRow));
    markCurrent();
  };

  const drawHead = (columns) => {
    const cells = columns.map(([title, key]) => {
      if (!key) return el("th", { scope: "col" }, title);
      const up = state.sort === key, down = state.sort === `-${key}`;
      const button = el("button", { type: "button", class: "sort", on: { click: () => go({ sort: up ? `-${key}` : down ? "" : key, page: 1 }) } }, title);
      return el("th", { scope: "col", "aria-sort": up ? "ascending" : down ? "descending" : null }, button);
    });
    $("rows").querySelector("thead").replaceChildren(el("tr", {}, ...cells));
  };

  const value = (text, more) => text === null ? missing("absent") : el("span", {}, bdi(text, "value"), more ? el("small", { class: "cut" }, ` … (${grouped(more)} more)`) : null);

  const verdictRow = (row) => el("tr", { tabindex: -1, data: { id: row.id }, on: { click: () => select(row.id), keydown: enter(() => select(row.id)) } },
    el("th", { scope: "row" }, bdi(row.shown_id, "id")),
    el("td", {}, bdi(row.address, "address")),
    el("td", {}, verdictTag(row.verdict)),
    el("td", {}, value(row.gold, row.gold_more)),
    el("td", {}, value(row.predicted, row.predicted_more)));

  const documentRow = (row) => {
    const open = () => go({ tab: "verdicts", document: row.doc_id, sort: "", page: 1 });
    const reason = row.status === "error" ? row.error || "no reason was recorded" : row.status === "nothing_to_score" ? "neither side states anything" : "";
    return el("tr", { tabindex: -1, on: { click: open, keydown: enter(open) } },
      el("th", { scope: "row" }, bdi(row.shown_id, "id")),
      el("td", {}, row.suite === null ? missing("none") : bdi(row.suite)),
      el("td", { class: row.status === "error" ? "bad" : null }, row.status.replaceAll("_", " ")),
      el("td", { class: "n" }, row.accuracy === null ? missing("not scored") : row.accuracy),
      el("td", { class: "n" }, row.wrong === null ? missing("not scored") : `${grouped(row.wrong)} of ${grouped(row.total)}`),
      el("td", { class: "why" }, bdi(reason)));
  };

  const enter = (action) => (event) => { if (event.key === "Enter" && event.target === event.currentTarget) action(); };
  const select = (id) => go({ id });

  const markCurrent = () => {
    const rows = [...$("rows").querySelectorAll("tbody tr")];
    for (const row of rows) {
      const current = state.id !== null && row.dataset.id === String(state.id);
      row.classList.toggle("current", current);
      if (current) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
      row.tabIndex = -1;
      if (current && !inSight(row)) row.scrollIntoView({ block: "nearest" });
    }
    const focusable = rows.find((row) => row.classList.contains("current")) || rows[0];
    if (focusable) focusable.tabIndex = 0;
  };
  const inSight = (row) => {
    const box = $("rows").getBoundingClientRect(), own = row.getBoundingClientRect();
    return own.top >= box.top + 30 && own.bottom <= box.bottom;
  };

  /* Filters */
  const showFacets = async (signal) => {
    const params = filterParams();
    for (const name of ["field", "document"]) if ($(`find-${name}`).value) params.set(`find_${name}`, $(`find-${name}`).value);
    const facets = await ask("facets", params, signal);
    $("facet-verdicts").replaceChildren(...facets.verdicts.values.map(verdictChoice));
    $("suite-box").hidden = !facets.suite.values.length && !state.suite;
    for (const name of ["suite", "field", "document"]) drawFacet(name, facets[name]);
  };

  const verdictChoice = ([name, , count]) => {
    const box = el("input", { type: "checkbox", value: name, on: { change: () => {
      const chosen = new Set(state.verdict);
      if (box.checked) chosen.add(name); else chosen.delete(name);
      go({ verdict: [...chosen] });
    } } });
    box.checked = state.verdict.includes(name);
    return el("label", { class: "choice", title: run.words[name] }, box, verdictTag(name), el("span", { class: "number" }, grouped(count)));
  };

  const drawFacet = (name, facet) => {
    const values = facet.values.slice();
    if (state[name] && !values.some(([given]) => given === state[name])) values.unshift([state[name], state[name], 0]);
    values.sort((a, b) => (b[0] === state[name]) - (a[0] === state[name]));
    const choices = values.map(([given, shown, count]) => {
      const chosen = state[name] === given;
      return el("button", { type: "button", class: "choice", "aria-pressed": chosen, on: { click: () => go({ [name]: chosen ? "" : given }) } },
        bdi(shown, name === "suite" ? "" : "address"), el("span", { class: "number" }, grouped(count)));
    });
    if (facet.more) choices.push(el("p", { class: "quiet" }, `and ${grouped(facet.more)} more; type to find one`));
    $(`facet-${name}`).replaceChildren(...choices);
  };

  /* The selected value */
  const showDetail = async (signal) => {
    $("detail").hidden = state.id === null;
    document.body.classList.toggle("with-detail", state.id !== null);
    if (state.id === null) return;
    const one = await ask("verdict", new URLSearchParams({ id: state.id }), signal);
    $("detail-title").replaceChildren(bdi(one.shown_id, "id"), " ", bdi(one.address, "address"));
    $("detail-body").replaceChildren(
      el("p", { class: "because" }, verdictTag(one.verdict), ": ", bdi(one.reason)),
      el("div", { class: "sides" }, side("ground truth", one.gold, one.gold_reading, "gone"), side("prediction", one.predicted, one.predicted_reading, "came")));
    $("detail").dataset.id = one.id;
    markCurrent();
    await Promise.all([showTree(one, signal), showPdf(one, signal)]);
  };

  const side = (title, given, reading, kind) => el("section", { "aria-label": title },
    el("h3", {}, title),
    given === null ? el("p", {}, missing("no value here")) : marked(given, kind),
    reading === null ? null : readingBox(reading));

  const marked = (given, kind) => el("p", { class: "whole" },
    given.before ? el("small", { class: "cut" }, `(${grouped(given.before)} more) … `) : null,
    el("bdi", { class: "value" }, ...given.parts.map(([text, changed]) => changed ? el("mark", { class: kind }, text) : text)),
    given.after ? el("small", { class: "cut" }, ` … (${grouped(given.after)} more)`) : null);

  const readingBox = (reading) => el("div", { class: "reading" },
    el("p", {}, "read as ", el("strong", {}, reading.route), reading.canonical === null ? ": it states nothing" : ", compared as ", reading.canonical === null ? null : bdi(reading.canonical, "value")),
    reading.steps.length ? el("ol", {}, ...reading.steps.map((step) => el("li", {}, step.sentence, " ", el("small", {}, bdi(step.before, "value"), " → ", bdi(step.after, "value"))))) : null);

  /* The document as a tree: [depth, label, id, verdict, gold, predicted, wrong, values] */
  const list = new LongList($("tree"), $("tree-space"), 26, (index) => treeLine(tree.seen[index]));

  const showTree = async (one, signal) => {
    const only = $("only-wrong").checked;
    if (tree.document !== one.doc_id || tree.only !== only) {
      const params = new URLSearchParams({ document: one.doc_id });
      if (only) params.set("only", "wrong");
      const answer = await ask("tree", params, signal);
      tree = { document: one.doc_id, only, lines: answer.lines, seen: [], folded: new Set(), current: null };
      const facts = answer.document;
      $("tree-facts").textContent = facts.total === null ? "" : `${facts.accuracy}, ${grouped(facts.wrong)} of ${grouped(facts.total)} wrong`;
    }
    tree.current = one.id;
    unfold(tree.lines.findIndex((line) => line[2] === one.id));
    arrange();
    const place = tree.seen.findIndex((index) => tree.lines[index][2] === one.id);
    if (place >= 0) list.reveal(place);
  };

  const arrange = () => {
    tree.seen = [];
    let hidden = Infinity;
    tree.lines.forEach((line, index) => {
      if (line[0] > hidden) return;
      hidden = tree.folded.has(index) ? line[0] : Infinity;
      tree.seen.push(index);
    });
    list.show(tree.seen.length);
  };

  const unfold = (index) => {
    let depth = index < 0 ? 0 : tree.lines[index][0];
    for (let above = index - 1; above >= 0 && depth > 0; above -= 1)
      if (tree.lines[above][0] < depth) { depth = tree.lines[above][0]; tree.folded.delete(above); }
  };

  const toggle = (index) => {
    if (tree.folded.has(index)) tree.folded.delete(index); else tree.folded.add(index);
    arrange();
  };

  const treeLine = (index) => {
    const [depth, label, id, verdict, gold, predicted, wrong, values] = tree.lines[index];
    const inner = id === null;
    const folded = tree.folded.has(index);
    const current = id !== null && id === tree.current;
    const act = () => (inner ? toggle(index) : select(id));
    const place = el("span", { class: "place" }, inner ? el("span", { class: "fold", "aria-hidden": "true" }, folded ? "▸" : "▾") : null, bdi(label));
    place.style.paddingLeft = `${Math.min(depth, 24) * 14}px`;
    const line = el("div", { class: `line${current ? " current" : ""}${inner ? " inner" : ""} ${verdict.replaceAll("_", "-")}`, role: "treeitem", "aria-level": depth + 1,
      "aria-expanded": inner ? String(!folded) : null, "aria-selected": String(current), on: { click: act } }, place);
    if (inner) line.append(el("span", { class: "sum" }, wrong ? `${grouped(wrong)} of ${grouped(values)} wrong` : `${grouped(values)} right`));
    else line.append(cell(gold), el("span", { class: `mark ${verdict.replaceAll("_", "-")}`, title: verdict.replaceAll("_", " ") }), cell(predicted));
    return line;
  };
  const cell = (text) => el("span", { class: "cell" }, text === null ? el("span", { class: "missing" }, "—") : bdi(text, "value"));

  /* The document's own page */
  const showPdf = async (one, signal) => {
    $("pdf").hidden = !run.docs;
    if (!run.docs) return;
    try {
      const found = await ask("find", new URLSearchParams({ id: one.id }), signal);
      const boxes = ["gold", "predicted"].flatMap((name) => found[name].boxes.map((box) => ({ ...box, name })));
      pdf = { document: found.document, pages: found.pages, page: boxes.length ? boxes[0].page : 0, boxes };
      const told = [["ground truth", found.gold], ["prediction", found.predicted]].map(([title, hit]) =>
        hit.spelling === null ? `${title}: not in the text layer` : `${title} found as “${hit.spelling}”, ${hit.boxes.length} ×`);
      $("pdf-facts").textContent = told.join(" · ");
      drawPage();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      $("pdf-facts").textContent = "";
      $("pdf-place").textContent = "";
      $("pdf-page").replaceChildren(el("p", {}, missing(error.message)));
    }
  };

  const drawPage = () => {
    $("pdf-place").textContent = `${pdf.page + 1} of ${pdf.pages}`;
    $("pdf-previous").disabled = pdf.page === 0;
    $("pdf-next").disabled = pdf.page >= pdf.pages - 1;
    const picture = el("img", { src: `pages/${pdf.document}/${pdf.page}.png`, alt: `Page ${pdf.page + 1} of the document` });
    const here = pdf.boxes.filter((box) => box.page === pdf.page).map((box) => {
      const mark = el("span", { class: `hit ${box.name}` });
      for (const [side, share] of [["left", box.left], ["top", box.top], ["width", box.width], ["height", box.height]]) mark.style[side] = `${share * 100}%`;
      return mark;
    });
    $("pdf-page").replaceChildren(el("div", { class: "sheet" }, picture, ...here));
  };

  /* Steps */
  const step = async (kind, to) => {
    const params = filterParams();
    if (state.sort && state.tab === "verdicts") params.set("sort", state.sort);
    if (state.id !== null) params.set("id", state.id);
    params.set("kind", kind);
    params.set("to", to);
    try {
      const found = await ask("step", params);
      if (found.id === null) { $("status").textContent = `no ${to} ${kind} among these rows`; return; }
      await go({ tab: "verdicts", id: found.id, page: Math.floor(found.place / ROWS) + 1 });
    } catch (error) { tell(error); }
  };

  const pageTo = (page) => {
    const pages = Math.max(1, Math.ceil(listed.total / ROWS));
    $("rows").scrollTop = 0;
    return go({ page: Math.min(pages, Math.max(1, page)) });
  };

  const close = () => go({ id: null }, { replace: true });

  const KEYS = {
    j: () => step("row", "next"), k: () => step("row", "previous"),
    e: () => step("error", "next"), E: () => step("error", "previous"),
    d: () => step("document", "next"), D: () => step("document", "previous"),
    f: () => step("field", "next"), F: () => step("field", "previous"),
    n: () => pageTo(state.page + 1), p: () => pageTo(state.page - 1),
    "/": () => $("text").focus(),
    "?": () => $("help").showModal(),
    Escape: () => { if (state.id !== null) close(); },
  };

  const setUp = () => {
    setUpTheme();
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && event.target === $("text")) { $("text").blur(); return; }
      const action = KEYS[event.key];
      if (!action || typing(event)) return;
      event.preventDefault();
      action();
    });
    $("text").addEventListener("input", debounced(150, () => go({ q: $("text").value }, { replace: true })));
    for (const name of ["field", "document"]) $(`find-${name}`).addEventListener("input", debounced(150, () => showFacets().catch(tell)));
    $("clear").addEventListener("click", () => { $("text").value = ""; go({ verdict: [], field: "", suite: "", document: "", q: "" }); });
    for (const tab of ["verdicts", "documents"]) {
      $(`tab-${tab}`).addEventListener("click", () => go({ tab, page: 1, sort: "" }));
      $(`tab-${tab}`).addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        const other = tab === "verdicts" ? "documents" : "verdicts";
        go({ tab: other, page: 1, sort: "" });
        $(`tab-${other}`).focus();
      });
    }
    $("first").addEventListener("click", () => pageTo(1));
    $("previous").addEventListener("click", () => pageTo(state.page - 1));
    $("next").addEventListener("click", () => pageTo(state.page + 1));
    $("last").addEventListener("click", () => pageTo(Infinity));
    $("page").addEventListener("change", () => pageTo(Number($("page").value) || 1));
    for (const button of document.querySelectorAll("[data-step]")) button.addEventListener("click", () => step(button.dataset.step, button.dataset.to));
    $("close").addEventListener("click", close);
    $("only-wrong").addEventListener("change", () => show(false));
    $("tree").addEventListener("keydown", treeKeys);
    $("pdf-previous").addEventListener("click", () => { pdf.page -= 1; drawPage(); });
    $("pdf-next").addEventListener("click", () => { pdf.page += 1; drawPage(); });
    $("show-help").addEventListener("click", () => $("help").showModal());
    $("copy-link").addEventListener("click", async () => {
      await navigator.clipboard.writeText(location.href);
      $("status").textContent = "link copied";
    });
    addEventListener("popstate", () => { state = readState(); show(); });
    if (matchMedia("(max-width: 60rem)").matches) $("filters").open = false;
  };

  const treeKeys = (event) => {
    const at = tree.seen.findIndex((index) => tree.lines[index][2] === tree.current);
    const to = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!to) return;
    event.preventDefault();
    for (let next = at + to; next >= 0 && next < tree.seen.length; next += to) {
      const id = tree.lines[tree.seen[next]][2];
      if (id !== null) { select(id); return; }
    }
  };

  const start = async () => {
    setUp();
    state = readState();
    try {
      run = await ask("run", "");
      $("run-name").textContent = run.name;
      document.title = `${run.name} · docassay view`;
      const failed = run.failed ? `, ${grouped(run.failed)} failed` : "";
      $("run-facts").textContent = `${run.signature} · ${grouped(run.scored)} of ${grouped(run.documents)} documents scored${failed} · accuracy ${run.accuracy}, failures as 0 · ${grouped(run.verdicts)} values`;
      await show();
      document.body.dataset.ready = "true";
    } catch (error) { tell(error); }
  };
  start();
})();
