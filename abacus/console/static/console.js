"use strict";
// What a page cannot say in HTML. Without it every page works.

function zones() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  for (const field of document.querySelectorAll("[data-zone]")) field.value = zone;
  for (const link of document.querySelectorAll("[data-zoned]")) {
    const address = new URL(link.href);
    address.searchParams.set("zone", zone);
    link.href = address.href;
  }
}

// What the page waits for, said at its top until the answer is there.
function busy(words) {
  const line = document.getElementById("busy");
  line.textContent = words;
  line.classList.toggle("sent", words !== "");
}

// "3 minutes ago" stays true while somebody looks.
function recent() {
  const words = new Intl.RelativeTimeFormat("en");
  for (const each of document.querySelectorAll("time[data-recent]")) {
    const minutes = Math.trunc((new Date(each.dateTime) - Date.now()) / 60000);
    if (minutes) each.textContent = words.format(minutes, "minute");
  }
}

// A second click sends nothing; the form's key sees to a click that gets through.
function sendOnce(root) {
  for (const form of root.querySelectorAll("form[data-once]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "yes";
      form.querySelectorAll("button").forEach((button) => button.setAttribute("aria-disabled", "true"));
      busy("Sending…");
    });
  }
}

function copying(root) {
  for (const button of root.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("[data-copied]").textContent);
      button.textContent = "Copied";
    });
  }
}

// A part of the page is loaded anew whenever the server says that something has changed, while somebody looks. It has no
// `data-live` any more once nothing can change. Where somebody is in it, and how far it was scrolled, stays.
function live() {
  const part = () => document.querySelector("[data-live]");
  if (!part()) return;
  const [address, select] = [part().dataset.live, `#${part().id}`];
  let events = null;
  function stop() {
    if (events) events.close();
    events = null;
  }
  function kept() {
    const regions = () => [...document.querySelectorAll(`${select} [role=region]`)];
    const scrolled = regions().map((each) => [each.scrollLeft, each.scrollTop]);
    const at = document.activeElement.closest(select) && document.activeElement.getAttribute("href");
    return () => {
      regions().forEach((each, i) => { [each.scrollLeft, each.scrollTop] = scrolled[i] || [0, 0]; });
      const link = at && document.querySelector(`${select} [href="${CSS.escape(at)}"]`);
      if (link) link.focus({ preventScroll: true });
    };
  }
  async function changed() {
    let back = null;
    const keep = () => { back = kept(); };
    document.addEventListener("htmx:beforeSwap", keep, { once: true });
    const asked = { source: select, target: select, select, swap: "outerHTML show:none", headers: { "X-By-Itself": "yes" } };
    await htmx.ajax("GET", location.href, asked);
    document.removeEventListener("htmx:beforeSwap", keep);
    if (back) back();
    if (!part()) stop();
  }
  function listen() {
    stop();
    if (document.hidden || !part()) return;
    events = new EventSource(address);
    events.addEventListener("changed", changed);
  }
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", stop);
  listen();
}

function prepare(root) {
  sendOnce(root);
  copying(root);
}

window.addEventListener("pageshow", (event) => {
  // A page that comes back from the browser's memory may be sent again.
  if (!event.persisted) return;
  busy("");
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    form.querySelectorAll("button").forEach((button) => button.removeAttribute("aria-disabled"));
  }
});
document.addEventListener("htmx:load", (event) => {
  if (event.detail.elt !== document.body) prepare(event.detail.elt);
});
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  document.getElementById("busy").textContent = detail.requestConfig.headers["X-By-Itself"] ? "" : "Loading…";
});
zones();
setInterval(recent, 30000);
prepare(document);
live();
document.documentElement.dataset.ready = "yes";

// The field of the search: `/` goes to it, arrows choose a suggestion, Enter opens it, and Esc closes the list.
function search() {
  const form = document.querySelector("[data-search]");
  if (!form) return;
  const field = form.querySelector("input");
  const list = form.querySelector(".suggestions");
  const links = () => [...list.querySelectorAll("a")];
  const close = () => { list.hidden = true; };
  list.addEventListener("htmx:afterSwap", () => { list.hidden = !field.value.trim() || !list.textContent.trim(); });
  field.addEventListener("input", () => { if (!field.value.trim()) close(); });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { close(); field.focus(); return; }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const at = links().indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
    (links()[at] || field).focus();
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
}

// Keys outside of fields: `/`, `?`, and two after each other that open a page (`data-keys` of the dialog's links).
function keyboard() {
  const dialog = document.querySelector("#keys");
  if (!dialog) return;
  let before = "";
  document.addEventListener("keydown", (event) => {
    const types = event.target.closest("input, select, textarea, [contenteditable]");
    if (types || event.ctrlKey || event.metaKey || event.altKey) return;
    const pressed = `${before}${event.key}`;
    before = event.key === "g" ? "g " : "";
    const link = dialog.querySelector(`[data-keys="${CSS.escape(pressed)}"]`);
    const field = document.querySelector("[data-search] input");
    if (event.key === "/" && field) { event.preventDefault(); field.focus(); }
    else if (event.key === "?") dialog.showModal();
    else if (link) location.assign(link.href);
  });
}

search();
keyboard();

// What is typed while an answer is on its way is not in that answer: it is left out, and asked for again.
function askAgain() {
  const asSent = new WeakMap();
  const fields = "input, select, textarea";
  function replaced(detail) {
    const beside = (detail.requestConfig.elt.getAttribute("hx-select-oob") || "").split(",").filter(Boolean);
    return [detail.target, ...beside.map((each) => document.querySelector(each))].filter(Boolean);
  }
  function typed(detail) {
    const there = replaced(detail).flatMap((each) => (each.matches(fields) ? [each] : [...each.querySelectorAll(fields)]));
    return JSON.stringify(there.map((each) => [each.name, each.type === "checkbox" ? each.checked : each.value]));
  }
  document.addEventListener("htmx:beforeSend", ({ detail }) => asSent.set(detail.xhr, typed(detail)));
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (!detail.shouldSwap || !asSent.has(detail.xhr) || asSent.get(detail.xhr) === typed(detail)) return;
    detail.shouldSwap = false;
    const { elt, triggeringEvent } = detail.requestConfig;
    if (!triggeringEvent) return;
    setTimeout(() => elt.isConnected && elt.dispatchEvent(new Event(triggeringEvent.type, { cancelable: true })));
  });
}

askAgain();
