"""Checks of all pages in the browser."""

import re

FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|https?://(?!www\.w3\.org)"
)
"""What no script of a page may hold: text enters a page as text only, and no page asks another server."""

PALE = """(() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = (rgb) => rgb.slice(0, 3).map((c) => linear(c / 255))
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const rectangle = (node) => {  // the last one drawn behind a text of a picture
    const { x, y, width, height } = node.getBBox();
    return [...node.ownerSVGElement.querySelectorAll("rect")].filter((rect) => {
      const box = rect.getBBox(), across = x + width / 2 - box.x, down = y + height / 2 - box.y;
      const isBefore = rect.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
      return isBefore && getComputedStyle(rect).fill !== "none"
        && across >= 0 && across <= box.width && down >= 0 && down <= box.height;
    }).pop();
  };
  const behind = (node) => {
    const drawn = node instanceof SVGElement ? rectangle(node) : null;
    if (drawn) return numbers(getComputedStyle(drawn).fill);
    for (; node; node = node.parentElement) {
      const colour = numbers(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const kinds = "h1, h2, h3, p, a, button, label, textarea, select, input, legend, summary, th, td, dt, dd, li, small, "
    + "kbd, b, span, .curves text, .rates text, .felt-place text";
  return [...document.querySelectorAll(kinds)]
    .filter((node) => (node.textContent.trim() || node.value) && node.getClientRects().length)
    .filter((node) => !node.closest(":disabled, .idle, [aria-hidden=true]"))  // who cannot be pressed may be pale
    .map((node) => {
      const style = getComputedStyle(node), isDrawn = node instanceof SVGElement;
      const pair = [light(numbers(isDrawn ? style.fill : style.color)), light(behind(node))].sort((a, b) => b - a);
      return [(pair[0] + 0.05) / (pair[1] + 0.05), node.textContent];
    }).filter(([contrast]) => contrast < 4.5).map(([contrast, text]) => `${text}: ${contrast.toFixed(2)}`);
})()"""
"""Returns the texts whose contrast with what is behind them is less than 4.5."""
