"use strict";
// The headings of the table of flops become buttons that sort the table.
(() => {
  const table = document.querySelector("#sorted table"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const number = (row, column) => parseFloat(row.cells[column].textContent.replaceAll(",", ""));
  const ranks = "23456789TJQKA";
  // Texts are cards: high cards come first, as numbers do that are large.
  const cards = (row) => [...row.cells[0].textContent].filter((c) => ranks.includes(c)).reduce((n, c) => 13 * n + ranks.indexOf(c), 0);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const falls = head.getAttribute("aria-sort") !== "descending", value = column ? (row) => number(row, column) : cards;
      const keyed = [...body.rows].map((row) => [value(row), row]);
      // Rows without a figure stay last in both orders.
      keyed.sort(([a], [b]) => (Number.isNaN(a) - Number.isNaN(b)) || (falls ? b - a : a - b) || 0);
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      body.append(...keyed.map(([, row]) => row));
    });
    head.replaceChildren(button);
  });
})();
