"use strict";
// The filters live in the fragment of the URL, so that a filtered view can be linked to: #severity=error&path=grpo
const form = document.getElementById("filters");
const files = Array.from(document.querySelectorAll("section.file"));

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const box of form.querySelectorAll("[name=severity]")) {
    box.checked = !given.has("severity") || given.getAll("severity").includes(box.value);
  }
  form.elements.code.value = given.get("code") ?? "";
  if (form.elements.code.selectedIndex < 0) form.elements.code.value = "";
  form.elements.path.value = given.get("path") ?? "";
}

function apply() {
  const boxes = Array.from(form.querySelectorAll("[name=severity]"));
  const severities = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  const code = form.elements.code.value;
  const path = form.elements.path.value.trim().toLowerCase();
  let shown = 0, all = 0;
  for (const file of files) {
    const here = file.dataset.path.toLowerCase().includes(path);
    let visible = 0;
    for (const finding of file.querySelectorAll(".finding")) {
      const wanted = here && severities.has(finding.dataset.severity) && (!code || finding.dataset.code === code);
      finding.hidden = !wanted;
      visible += wanted;
      all += 1;
    }
    file.hidden = !visible;
    shown += visible;
  }
  for (const plan of document.querySelectorAll(".plan")) {
    plan.hidden = !plan.dataset.path.toLowerCase().includes(path);
  }
  form.elements.shown.value = shown === all ? `${all} shown` : `${shown} of ${all} shown`;
}

function remember() {
  const boxes = Array.from(form.querySelectorAll("[name=severity]"));
  const state = new URLSearchParams();
  if (boxes.some((box) => !box.checked)) {
    for (const box of boxes) if (box.checked) state.append("severity", box.value);
    if (!state.has("severity")) state.append("severity", "none");
  }
  for (const name of ["code", "path"]) if (form.elements[name].value) state.set(name, form.elements[name].value);
  history.replaceState(null, "", `#${state}`);
}

if (form) {
  form.addEventListener("input", () => { remember(); apply(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => { read(); apply(); });
  form.hidden = false;
  read();
  apply();
}
