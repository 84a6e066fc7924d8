"use strict";
// The table as a picture, from plain values: it knows neither hands nor games.
const drawCard = (parent, x, y, text, isFaded) => {
  const group = draw(parent, "g", { opacity: isFaded ? 0.35 : 1 });
  draw(group, "rect", { x, y, width: 27, height: 36, rx: 4, class: "card-face" });
  draw(group, "text", { x: x + 13.5, y: y + 16, "text-anchor": "middle", class: `card-text suit-${text[1]}` }, text[0]);
  draw(group, "text", { x: x + 13.5, y: y + 31, "text-anchor": "middle", class: `card-text suit-${text[1]}` }, SUITS[text[1]]);
};
const drawBack = (parent, x, y, isFaded) => {
  const group = draw(parent, "g", { opacity: isFaded ? 0.35 : 1 });
  draw(group, "rect", { x, y, width: 27, height: 36, rx: 4, class: "card-face" });
  draw(group, "rect", { x: x + 3.5, y: y + 3.5, width: 20, height: 29, rx: 2.5, class: "card-back" });
};

// `seats`: of each seat `name`, `cards` (texts), `backs` (number of cards face down), `isOut`, `acts`, `stack`, `note`
// and `css` of the note. `board` has the cards seen, of `boardSize`; `pot` and `caption` are texts.
const drawTable = ({ seats, board, boardSize, pot, caption, label = "The table" }, isNarrow) => {
  const width = isNarrow ? 380 : 600, height = isNarrow ? 500 : 430;
  const centre = width / 2, middle = isNarrow ? 245 : 207;
  const svg = draw(null, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const felt = isNarrow ? { x: 55, y: 95, width: 270, height: 300, rx: 112 } : { x: 95, y: 95, width: 410, height: 225, rx: 112 };
  draw(svg, "rect", { ...felt, class: "felt" });
  const start = centre - (boardSize * 32 - 5) / 2;
  for (let k = 0; k < boardSize; k++) {
    if (k < board.length) drawCard(svg, start + 32 * k, middle - 35, board[k], false);
    else draw(svg, "rect", { x: start + 32 * k, y: middle - 35, width: 27, height: 36, rx: 4, class: "card-void" });
  }
  draw(svg, "text", { x: centre, y: middle + 29, "text-anchor": "middle", class: "pot" }, pot);
  draw(svg, "text", { x: centre, y: middle + 49, "text-anchor": "middle", class: "caption" }, caption);
  seats.forEach((seat, number) => {
    const angle = Math.PI / 2 + 2 * Math.PI * number / seats.length;
    const x = centre + (isNarrow ? 125 : 232) * Math.cos(angle), y = middle + (isNarrow ? 195 : 157) * Math.sin(angle);
    const box = draw(svg, "g", {});
    draw(box, "rect", { x: x - 62, y: y - 24, width: 124, height: 70, rx: 8, class: seat.acts ? "seat acts" : "seat" });
    const backs = seat.backs || 0, count = seat.cards.length + backs;
    for (let k = 0; k < count; k++) {
      const left = x + (k - count / 2) * 31 + 2;
      if (k < seat.cards.length) drawCard(box, left, y - 44, seat.cards[k], seat.isOut); else drawBack(box, left, y - 44, seat.isOut);
    }
    draw(box, "text", { x, y: y + 10, "text-anchor": "middle", class: seat.isOut ? "who out" : "who" }, cut(seat.name, 16));
    draw(box, "text", { x, y: y + 25, "text-anchor": "middle", class: "stack" }, seat.stack);
    draw(box, "text", { x, y: y + 40, "text-anchor": "middle", class: `paid ${seat.css || ""}` }, seat.note);
  });
  return svg;
};
