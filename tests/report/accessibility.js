() => {
  // What is wrong with a page for those who see little or nothing: contrast below WCAG AA, names, landmarks, ids.
  const contrast = () => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const over = (top, below) => { const a = top[3] / 255; return [0, 1, 2].map((i) => top[i] * a + below[i] * (1 - a)); };
  const background = (node) => { const layers = []; for (; node; node = node.parentElement) { const c = rgba(getComputedStyle(node).backgroundColor); if (c[3]) { layers.push(c); if (c[3] === 255) break; } } return layers.reduceRight((below, top) => over(top, below), [255, 255, 255]); };
  const poor = [];
  const seen = new Set();
  for (const node of document.querySelectorAll("body *")) {
    const svg = node instanceof SVGElement;
    if (svg && node.tagName !== "text") continue;
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
    if (!node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    if (node.closest(":disabled, .skip, script, style")) continue;
    const style = getComputedStyle(node);
    const back = background(svg ? node.closest("svg").parentElement : node);
    const front = over(rgba(svg ? style.fill : style.color), back);
    const [high, low] = [light(front), light(back)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const needed = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5;
    const key = `${node.tagName}.${node.className.baseVal ?? node.className}`;
    if (ratio < needed && !seen.has(key)) { seen.add(key); poor.push(`${key}: ${ratio.toFixed(2)} < ${needed} "${node.textContent.trim().slice(0, 40)}"`); }
  }
  return poor;
};
  const unnamed = () => {
  const poor = [];
  const named = (node) => node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") || node.textContent.trim() || node.title || (node.labels && node.labels.length) || node.alt;
  for (const node of document.querySelectorAll("button, a[href], input, select, [role=group], [role=tab], [role=img], nav, section, aside, dialog, img"))
    if (!named(node)) poor.push(`without a name: ${node.outerHTML.slice(0, 120)}`);
  for (const landmark of ["main", "header"]) if (document.querySelectorAll(landmark).length !== 1) poor.push(`landmark: ${landmark}`);
  if (document.querySelectorAll("h1").length !== 1) poor.push("not one h1");
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) poor.push(`id twice: ${id}`);
  for (const node of document.querySelectorAll("[aria-labelledby], [aria-controls]"))
    for (const name of ["aria-labelledby", "aria-controls"]) {
      const id = node.getAttribute(name);
      if (id && !document.getElementById(id)) poor.push(`${name} names nothing: ${id}`);
    }
  for (const table of document.querySelectorAll("table")) if (table.tHead && table.tHead.querySelector("th:not([scope])")) poor.push("a column heading without scope");
  if (!document.documentElement.lang) poor.push("no language");
  return poor;
};
  return [...contrast(), ...unnamed()];
}
