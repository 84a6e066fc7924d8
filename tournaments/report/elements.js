"use strict";
// Elements of pages and pictures. Texts enter a page as text only.
const make = (tag, css, text) => {
  const node = document.createElement(tag);
  if (css) node.className = css;
  if (text !== undefined) node.textContent = text;
  return node;
};
const draw = (parent, tag, attributes, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
};
const buttonOf = (text, label, act) => {
  const node = make("button", "", text);
  node.type = "button";
  if (label) node.setAttribute("aria-label", label);
  node.addEventListener("click", act);
  return node;
};
const cut = (text, length) => text.length > length ? text.slice(0, length - 1) + "…" : text;
const percent = (share) => share === null ? "–" : (100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0) + " %";
const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const cardsText = (text) => text.replace(/(.)([cdhs])/g, (_, rank, suit) => rank + SUITS[suit] + " ").trim();
