"use strict";
(() => {
  const root = document.documentElement;
  const themes = [...document.querySelectorAll("[data-set-theme]")];
  const setTheme = (name) => {
    root.dataset.theme = name;
    for (const button of themes) button.setAttribute("aria-pressed", String(button.dataset.setTheme === name));
  };
  for (const button of themes) button.addEventListener("click", () => setTheme(button.dataset.setTheme));

  for (const button of document.querySelectorAll("[data-expand]"))
    button.addEventListener("click", () => {
      for (const one of document.querySelectorAll("details.document")) one.open = button.dataset.expand === "true";
    });

  // What is folded away on the screen is printed all the same, and folded again afterwards.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
  });

  const keyOf = (cell) => {
    const given = cell.dataset.sort;
    return given === undefined ? cell.textContent.trim().toLowerCase() : Number(given);
  };
  const sortBy = (table, column, heading) => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row.cells[column]), row]);
    rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };
  for (const table of document.querySelectorAll("table[data-sortable]"))
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sortBy(table, column, heading));
    });

  for (const input of document.querySelectorAll("[data-filter]")) {
    const table = document.getElementById(input.dataset.filter);
    const status = document.querySelector(`[data-filter-status="${input.dataset.filter}"]`);
    input.addEventListener("input", () => {
      const words = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = words !== "" && !row.textContent.toLowerCase().includes(words);
        shown += row.hidden ? 0 : 1;
      }
      status.textContent = words === "" ? "" : `${shown} of ${table.tBodies[0].rows.length} shown`;
    });
  }
})();
