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

// A second click sends nothing; the form's key sees to those that get through.
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

// A part of the page is loaded anew whenever the server says that something has changed, while somebody looks.
function live() {
  const part = document.querySelector("[data-live]");
  if (!part) return;
  const [address, select] = [part.dataset.live, `#${part.id}`];
  let events = null;
  function listen() {
    if (events) events.close();
    events = document.hidden ? null : new EventSource(address);
    if (!events) return;
    events.addEventListener("changed", () => {
      htmx.ajax("GET", location.href, { source: select, target: select, select, swap: "outerHTML" });
    });
  }
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", () => events && events.close());
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
document.addEventListener("htmx:beforeRequest", () => (document.getElementById("busy").textContent = "Loading…"));
zones();
setInterval(recent, 30000);
prepare(document);
live();
document.documentElement.dataset.ready = "yes";
