/* Opens every page of pages.js in a frame, at two widths, and writes what is wrong with it into the
   document. Needs --allow-file-access-from-files, since a frame from disk is foreign otherwise. */
(function () {
  "use strict";
  var faults = [], ids = {}, links = [], checks = 0, anchors = 0;
  function fault(page, what) { faults.push(page + ": " + what); }
  function open(page, width) {
    return new Promise(function (resolve) {
      var frame = document.createElement("iframe");
      frame.style.cssText = "border:0;height:900px;width:" + width + "px";
      frame.onload = function () { resolve(frame); };
      frame.src = page;
      document.body.appendChild(frame);
    });
  }
  function overflow(doc, page, width) {
    if (doc.documentElement.scrollWidth > doc.documentElement.clientWidth + 1)
      fault(page, "is " + doc.documentElement.scrollWidth + " px wide at " + width);
    /* Words of verdicts are in sight without scrolling sideways. */
    doc.querySelectorAll(".word").forEach(function (word) {
      var box = word.getBoundingClientRect();
      if (box.width > 0 && box.right > width + 1 && !word.closest("details:not([open])"))
        fault(page, "the word '" + word.textContent + "' ends at " + Math.round(box.right) + " px of " + width);
    });
    if (width < 1000) return;
    doc.querySelectorAll(".tw").forEach(function (frame) {
      if (frame.scrollWidth > frame.clientWidth + 1)
        fault(page, "a table is " + frame.scrollWidth + " px wide in " + frame.clientWidth);
    });
  }
  function identities(doc, page) {
    ids[page] = {};
    doc.querySelectorAll("[id]").forEach(function (el) {
      if (ids[page][el.id]) fault(page, "two elements are called " + el.id);
      ids[page][el.id] = true;
    });
    doc.querySelectorAll("a[href]").forEach(function (a) { links.push([page, a.href]); });
  }
  /* What a reader does. */
  function use(doc, page) {
    var view = doc.defaultView, box = doc.querySelector("#q");
    box.value = "provenance";
    box.dispatchEvent(new view.Event("input"));
    if (!doc.querySelector("#hits a")) fault(page, "the search finds no provenance");
    checks++;
    doc.querySelectorAll("figure img").forEach(function (img) {
      if (!img.naturalWidth || !img.alt) fault(page, "a figure is not shown");
      checks++;
    });
    var sorter = doc.querySelector("table[data-sort] thead th button");
    if (sorter) {
      sorter.click();
      if (sorter.parentNode.getAttribute("aria-sort") !== "ascending") fault(page, "a table does not sort");
      checks++;
    }
    var chip = doc.querySelector("div.bar [data-set^='axis=']"), forest = doc.querySelector("#forest");
    if (chip && forest) {
      var before = forest.querySelectorAll(".frow:not([hidden])").length;
      chip.click();
      if (view.location.hash.indexOf("axis=") < 0) fault(page, "a filter is not in the address");
      if (forest.querySelectorAll(".frow:not([hidden])").length > before) fault(page, "a filter shows more");
      checks++;
    }
    var theme = doc.querySelector("#theme"), now = view.getComputedStyle(doc.body).backgroundColor;
    theme.click();
    if (view.getComputedStyle(doc.body).backgroundColor === now) fault(page, "dark and light are the same");
    theme.click();
  }
  async function run() {
    for (var k = 0; k < PAGES.length; ++k)
      for (var width of [1280, 390]) {
        var frame = await open(PAGES[k], width), doc = frame.contentDocument;
        overflow(doc, PAGES[k], width);
        if (width === 1280) { identities(doc, PAGES[k]); use(doc, PAGES[k]); }
        frame.remove();
      }
    var root = location.href.slice(0, location.href.lastIndexOf("/") + 1);
    links.forEach(function (link) {
      var address = link[1].split("#"), page = decodeURIComponent(address[0].slice(root.length));
      if (address[0].indexOf(root) !== 0) fault(link[0], "leads out of the report: " + link[1]);
      else if (/\.html$/.test(page) && !ids[page]) fault(link[0], "leads to no page: " + page);
      else if (address[1] && ids[page]) {
        ++anchors;
        /* Of state in an address, as "paper=xu-2026", no element has the name. */
        if (address[1].indexOf("=") < 0 && !ids[page][decodeURIComponent(address[1])])
          fault(link[0], "leads to no anchor: " + page + "#" + address[1]);
      }
    });
    document.body.textContent = "PAGES " + PAGES.length + " LINKS " + links.length + " ANCHORS " + anchors + " USES " + checks +
                                " FAULTS " + faults.length + "\n" + faults.join("\n") + "\nEND";
  }
  window.onload = run;
})();
