"use strict";
/* What both pages share. Foreign text reaches the page through textContent alone, so that nothing in it can act. */
const $ = (id) => document.getElementById(id);

const el = (tag, properties = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};

const grouped = (number) => number.toLocaleString("en-US");
const bdi = (text, cls) => el("bdi", { class: cls }, text);
const missing = (why) => el("span", { class: "missing" }, "— ", el("small", {}, why));
const verdictTag = (name) => el("span", { class: `verdict ${name.replaceAll("_", "-")}` }, name.replaceAll("_", " "));

const ask = async (name, params, signal) => {
  const response = await fetch(`api/${name}?${params}`, { signal });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error || `the server answered ${response.status}`);
  return answer;
};

const tell = (error) => {
  if (error.name === "AbortError") return;
  const box = $("problem");
  box.textContent = error instanceof TypeError ? "The server does not answer; is docassay view still running?" : error.message;
  box.hidden = false;
};
const untell = () => { $("problem").hidden = true; };

const debounced = (wait, action) => {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...args), wait);
  };
};

const setUpTheme = () => {
  const buttons = [...document.querySelectorAll("[data-set-theme]")];
  for (const button of buttons)
    button.addEventListener("click", () => {
      document.documentElement.dataset.theme = button.dataset.setTheme;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    });
};

const typing = (event) =>
  event.ctrlKey || event.metaKey || event.altKey ||
  (event.target.closest && event.target.closest("input:not([type=checkbox]), textarea, select, dialog"));

/* A list of many lines of one height, of which only those in sight exist. */
class LongList {
  constructor(box, space, height, render) {
    Object.assign(this, { box, space, height, render, count: 0 });
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
  }
  show(count) {
    this.count = count;
    this.space.style.height = `${count * this.height}px`;
    this.draw(true);
  }
  reveal(index) {
    const top = index * this.height;
    if (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - 2 * this.height)
      this.box.scrollTop = Math.max(0, top - this.box.clientHeight / 3);
    this.draw(true);
  }
  draw(fresh = false) {
    const from = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 8);
    const to = Math.min(this.count, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 8);
    if (!fresh && from === this.from && to === this.to) return;
    Object.assign(this, { from, to });
    const lines = [];
    for (let index = from; index < to; index += 1) {
      const line = this.render(index);
      line.style.top = `${index * this.height}px`;
      lines.push(line);
    }
    this.space.replaceChildren(...lines);
  }
}
