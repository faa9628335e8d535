"use strict";
const game = JSON.parse(document.getElementById("game").textContent);
const [table, scores, slider, step, event, log, allHands] =
  ["table", "scores", "slider", "step", "event", "log", "all-hands"].map((id) => document.getElementById(id));
const main = document.querySelector("main");
const hands = [...document.querySelectorAll(".hand")];
const last = game.frames.length - 1;
let now = 0;

const startOfCol = (col) => game.frames.findIndex((frame) => frame.col === col);

/** Where each button and key leads. */
const targets = {
  "first": () => 0,
  "back": () => now - 1,
  "forward": () => now + 1,
  "last": () => last,
  "previous-col": () => {
    const start = startOfCol(game.frames[now].col);
    return now > start ? start : startOfCol(game.frames[now].col - 1);
  },
  "next-col": () => {
    const start = startOfCol(game.frames[now].col + 1);
    return start < 0 ? last : start;
  },
};
const keys = {
  "ArrowLeft": "back", "ArrowRight": "forward", "Home": "first", "End": "last",
  "Shift+ArrowLeft": "previous-col", "Shift+ArrowRight": "next-col",
};

/** Close the hands that are not ticked; while one is closed, only what everybody saw is told. */
function closeHands() {
  for (const hand of hands) {
    table.querySelector(`[data-seat="${hand.value}"]`).classList.toggle("closed", !hand.checked);
  }
  allHands.checked = hands.every((hand) => hand.checked);
  main.classList.toggle("hiding", !allHands.checked);
  event.textContent = game.frames[now][allHands.checked ? "event" : "public"];
}

function markInLog() {
  log.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const entry = log.querySelector(`[data-frame="${now}"]`);
  entry.setAttribute("aria-current", "step");
  log.scrollTop = entry.offsetTop - log.clientHeight / 2;
}

function show(number) {
  now = Math.min(Math.max(number, 0), last);
  const frame = game.frames[now];
  table.innerHTML = frame.table.map((piece) => game.pieces[piece]).join("");
  scores.innerHTML = game.pieces[frame.scores];
  slider.value = now;
  step.textContent = `${now} of ${last}`;
  closeHands();
  markInLog();
}

document.querySelectorAll("[data-go]").forEach((button) =>
  button.addEventListener("click", () => show(targets[button.dataset.go]())));
log.addEventListener("click", (click) => {
  const entry = click.target.closest("[data-frame]");
  if (entry) show(Number(entry.dataset.frame));
});
slider.addEventListener("input", () => show(Number(slider.value)));
hands.forEach((hand) => hand.addEventListener("change", closeHands));
allHands.addEventListener("change", () => {
  hands.forEach((hand) => { hand.checked = allHands.checked; });
  closeHands();
});
document.addEventListener("keydown", (press) => {
  const target = keys[(press.shiftKey ? "Shift+" : "") + press.key];
  if (!target || press.altKey || press.ctrlKey || press.metaKey) return;
  press.preventDefault();
  show(targets[target]());
});
show(0);
