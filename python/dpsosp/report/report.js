/* A classic script, since modules are not loaded from disk. Without it the pages have everything but
   search, filters, sorting, hover, and what copies. State is in the address: #paper=…&word=…&axis=…. */
(function () {
  "use strict";
  var doc = document;
  function one(selector, root) { return (root || doc).querySelector(selector); }
  function all(selector, root) { return [].slice.call((root || doc).querySelectorAll(selector)); }
  function make(name, attributes, content) {
    var el = doc.createElement(name);
    for (var key in attributes || {}) el.setAttribute(key, attributes[key]);
    if (content !== undefined) el.textContent = content;
    return el;
  }

  /* light and dark */
  var theme = one("#theme");
  if (theme) theme.onclick = function () {
    var root = doc.documentElement;
    var now = root.dataset.theme || (matchMedia("(prefers-color-scheme:dark)").matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    try { localStorage.theme = root.dataset.theme; } catch (e) { /* private mode keeps nothing */ }
  };

  /* copy */
  function copy(text, button) {
    function done() {
      var label = button.textContent;
      button.textContent = "copied";
      setTimeout(function () { button.textContent = label; }, 1200);
    }
    if (navigator.clipboard && isSecureContext) { navigator.clipboard.writeText(text).then(done); return; }
    var area = make("textarea");
    area.value = text;
    doc.body.appendChild(area);
    area.select();
    doc.execCommand("copy");
    area.remove();
    done();
  }
  all(".cmd").forEach(function (command) {
    var button = make("button", { type: "button", "aria-label": "Copy the command" }, "copy");
    button.onclick = function () { copy(one("code", command).textContent, button); };
    command.appendChild(button);
  });
  all("h2[id]").forEach(function (heading) {
    heading.appendChild(make("a", { "class": "self", href: "#" + heading.id, "aria-label": "Permalink" }, "#"));
  });

  /* hover and focus */
  var tip = one("#tip");
  function show(text, x, y) {
    tip.textContent = text;
    tip.className = "on";
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - tip.offsetWidth - 6)) + "px";
    tip.style.top = (y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 18) + "px";
  }
  doc.addEventListener("pointermove", function (event) {
    var el = event.target.closest && event.target.closest("[data-tip]");
    if (el) show(el.dataset.tip, event.clientX, event.clientY); else tip.className = "";
  });
  doc.addEventListener("focusin", function (event) {
    var row = event.target.closest && event.target.closest(".frow");
    if (!row) { tip.className = ""; return; }
    var place = row.getBoundingClientRect();
    show(all("[data-tip]", row).map(function (el) { return el.dataset.tip.split("\n")[0]; }).join("\n"),
         place.left, place.bottom - 14);
  });

  /* filters: one state for tiles, forest and list of claims */
  var forest = one("#forest"), claims = one(".claimlist"), bar = one("div.bar");
  var keys = ["paper", "word", "axis", "view", "nums"], state = {};
  function readState() {
    state = {};
    location.hash.slice(1).split("&").forEach(function (pair) {
      pair = pair.split("=");
      if (keys.indexOf(pair[0]) >= 0) state[pair[0]] = pair[1] || "";
    });
  }
  function writeState() {
    var hash = keys.filter(function (k) { return state[k]; }).map(function (k) { return k + "=" + state[k]; });
    history.replaceState(null, "", hash.length ? "#" + hash.join("&") : location.pathname + location.search);
    apply();
  }
  function apply() {
    if (!bar) return;
    var rows = forest ? all(".frow", forest) : [], shown = 0;
    rows.forEach(function (row) {
      row.hidden = !((!state.paper || row.dataset.p.split(" ").indexOf(state.paper) >= 0) &&
                     (!state.word || row.dataset.w === state.word) &&
                     (!state.axis || row.dataset.ax.indexOf(state.axis) >= 0));
      shown += !row.hidden;
    });
    if (forest) {
      all(".fgroup", forest).forEach(function (group) { group.hidden = !one(".frow:not([hidden])", group); });
      forest.className = "forest" + (state.axis ? " ax-" + state.axis : "") + (state.view ? " isdev" : "") +
                         (state.nums ? " nums" : "");
      if (one("#fcount")) one("#fcount").textContent = shown + " of " + rows.length + " rows";
    }
    if (claims && one("#ccount")) {
      var lines = all("tbody tr", claims), count = 0;
      lines.forEach(function (row) {
        row.hidden = !((!state.paper || row.dataset.p === state.paper) && (!state.word || row.dataset.w === state.word));
        count += !row.hidden;
      });
      one("#ccount").textContent = count + " of " + lines.length + " claims";
    }
    all("[data-set]").forEach(function (button) {
      if (!button.dataset.set) return;
      button.setAttribute("aria-pressed", String(button.dataset.set.split("&").every(function (pair) {
        pair = pair.split("=");
        return state[pair[0]] === pair[1];
      })));
    });
    var reset = one("#reset");
    if (reset) reset.hidden = !(state.paper || state.word || state.axis);
  }
  doc.addEventListener("click", function (event) {
    var button = event.target.closest("[data-set]");
    if (!button || !button.dataset.set) return;
    var pressed = button.getAttribute("aria-pressed") === "true";
    button.dataset.set.split("&").forEach(function (pair) {
      pair = pair.split("=");
      state[pair[0]] = pressed ? "" : pair[1];
    });
    writeState();
  });
  if (one("#reset")) one("#reset").onclick = function () { state = {}; writeState(); };

  /* what an address leads to is unfolded */
  function target() {
    readState();
    apply();
    var id = decodeURIComponent(location.hash.slice(1)), el = id && doc.getElementById(id);
    if (!el) return;
    for (var p = el; p; p = p.parentElement) if (p.tagName === "DETAILS") p.open = true;
    el.scrollIntoView();
  }
  addEventListener("hashchange", target);
  target();

  /* tables: sort, filter, hide columns, copy */
  function blocks(table) {
    var list = [];
    all("tbody tr", table).forEach(function (row) {
      if (row.classList.contains("below") && list.length) list[list.length - 1].push(row);
      else list.push([row]);
    });
    return list;
  }
  function value(cell) {
    if (!cell) return "";
    var text = cell.dataset.v || cell.textContent.replace(/−/g, "-").trim(), number = parseFloat(text);
    return isNaN(number) ? text : number;
  }
  function sortBy(table, column, ascending) {
    all("tbody", table).forEach(function (body) {
      var list = blocks({ querySelectorAll: function () { return body.querySelectorAll("tr"); } })
        .filter(function (b) { return !b[0].classList.contains("group"); });
      list.sort(function (a, b) {
        var x = value(a[0].cells[column]), y = value(b[0].cells[column]);
        if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
        return (x < y ? -1 : x > y ? 1 : 0) * (ascending ? 1 : -1);
      });
      list.forEach(function (block) { block.forEach(function (row) { body.appendChild(row); }); });
    });
  }
  function cellText(cell) { return cell.textContent.replace(/\s+/g, " ").trim(); }
  /* Columns: of two rows of heads the label of the upper one goes before that of the lower. */
  function heads(table) {
    var lower = table.tHead.rows[1], next = 0, list = [];
    [].slice.call(table.tHead.rows[0].cells).forEach(function (cell) {
      if (!lower || cell.rowSpan > 1) { list.push({ th: cell, label: cellText(cell) }); return; }
      for (var k = 0; k < cell.colSpan; ++k) {
        var th = lower.cells[next++];
        list.push({ th: th, label: cellText(cell) + ": " + cellText(th) });
      }
    });
    return list;
  }
  /* What is shown of a table. Columns that a page is too narrow for stand below their row, by name. */
  function grid(table) {
    var list = blocks(table).filter(function (b) { return !b[0].hidden && !b[0].classList.contains("group"); });
    var more = list.map(function (block) {
      var found = {};
      block.slice(1).forEach(function (row) {
        all(".more>span", row).forEach(function (item) { found[cellText(item.firstChild)] = cellText(item.lastChild); });
      });
      return found;
    });
    var names = Object.keys(Object.assign.apply(null, [{}].concat(more)));
    function shown(cell) { return !cell.hidden; }
    return [heads(table).filter(function (h) { return shown(h.th); }).map(function (h) { return h.label; }).concat(names)]
      .concat(list.map(function (block, k) {
        return [].slice.call(block[0].cells).filter(shown).map(cellText)
          .concat(names.map(function (name) { return more[k][name] || "–"; }));
      }));
  }
  var formats = {
    CSV: function (rows) {
      return rows.map(function (r) {
        return r.map(function (c) { return /[",\n]/.test(c) ? '"' + c.replace(/"/g, '""') + '"' : c; }).join(",");
      }).join("\n");
    },
    Markdown: function (rows) {
      var lines = rows.map(function (r) { return "| " + r.map(function (c) { return c.replace(/\|/g, "\\|"); }).join(" | ") + " |"; });
      lines.splice(1, 0, "|" + rows[0].map(function () { return "---|"; }).join(""));
      return lines.join("\n");
    },
    LaTeX: function (rows) {
      var lines = rows.map(function (r) {
        return r.map(function (c) { return c.replace(/[&%$#_{}]/g, "\\$&").replace(/−/g, "$-$"); }).join(" & ") + " \\\\";
      });
      lines.splice(1, 0, "\\midrule");
      return "\\begin{tabular}{l" + "r".repeat(rows[0].length - 1) + "}\n\\toprule\n" + lines.join("\n") +
             "\n\\bottomrule\n\\end{tabular}";
    }
  };
  all("table[data-sort]").forEach(function (table) {
    var columns = heads(table);
    columns.forEach(function (head, column) {
      var th = head.th, button = make("button", { type: "button" });
      while (th.firstChild) button.appendChild(th.firstChild);
      th.appendChild(button);
      button.onclick = function () {
        var ascending = th.getAttribute("aria-sort") !== "ascending";
        all("th", table.tHead).forEach(function (x) { x.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        sortBy(table, column, ascending);
      };
    });
    if (blocks(table).length < 4) return;
    var tools = make("div", { "class": "tbar" });
    var filter = make("input", { type: "search", placeholder: "filter rows", "aria-label": "Filter the rows of this table" });
    filter.oninput = function () {
      var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      blocks(table).forEach(function (block) {
        if (block[0].classList.contains("group")) return;
        var text = block.map(cellText).join(" ").toLowerCase();
        var hidden = !words.every(function (w) { return text.indexOf(w) >= 0; });
        block.forEach(function (row) { row.hidden = hidden; });
      });
    };
    tools.appendChild(filter);
    if (table.tHead.rows.length === 1 && columns.length > 3) {
      var menu = make("details", { "class": "menu" }), list = make("div");
      menu.appendChild(make("summary", {}, "columns"));
      columns.forEach(function (head, column) {
        if (column === 0) return;
        var label = make("label"), box = make("input", { type: "checkbox" });
        box.checked = true;
        box.onchange = function () {
          all("tr", table).forEach(function (row) {
            if (!row.classList.contains("below") && row.cells[column]) row.cells[column].hidden = !box.checked;
          });
        };
        label.appendChild(box);
        label.appendChild(doc.createTextNode(" " + head.label));
        list.appendChild(label);
      });
      menu.appendChild(list);
      tools.appendChild(menu);
    }
    Object.keys(formats).forEach(function (name) {
      var button = make("button", { type: "button" }, "copy " + name);
      button.onclick = function () { copy(formats[name](grid(table)), button); };
      tools.appendChild(button);
    });
    var frame = table.closest(".tw");
    frame.parentNode.insertBefore(tools, frame);
  });

  /* search: every word must begin a word of the title or stand in the text; the title counts more */
  var box = one("#q"), hits = one("#hits"), up = doc.body.dataset.up || "";
  function fold(text) {
    return " " + text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "").replace(/[\/,.()\-:]/g, " ");
  }
  var index = null;
  function search() {
    if (!index && typeof INDEX !== "undefined")
      index = INDEX.map(function (entry) { return { title: fold(entry[0]), text: fold(entry[2]), entry: entry }; });
    var words = fold(box.value).split(/\s+/).filter(Boolean);
    if (!words.length || !index) { hits.hidden = true; return; }
    var found = [];
    index.forEach(function (e) {
      var score = 0;
      for (var i = 0; i < words.length; ++i) {
        if (e.title.indexOf(" " + words[i]) >= 0) score += 5;
        else if (e.text.indexOf(" " + words[i]) >= 0) score += 1;
        else return;
      }
      found.push([score - e.title.length / 1000, e.entry]);
    });
    found.sort(function (a, b) { return b[0] - a[0]; });
    hits.textContent = "";
    found.slice(0, 10).forEach(function (hit) {
      var item = make("li"), link = make("a", { href: up + hit[1][1] }, hit[1][0]);
      link.appendChild(make("small", {}, hit[1][2].slice(0, 110)));
      item.appendChild(link);
      hits.appendChild(item);
    });
    if (!found.length) hits.appendChild(make("li", {}, "Nothing found. Try a method, a theorem’s number, or a word such as open."));
    hits.hidden = false;
  }
  if (box) {
    box.oninput = search;
    box.onfocus = search;
    doc.addEventListener("keydown", function (event) {
      var typing = /input|textarea|select/i.test(doc.activeElement.tagName);
      if (event.key === "/" && !typing) { event.preventDefault(); box.focus(); }
      if (event.key === "Escape") { hits.hidden = true; tip.className = ""; }
      if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !hits.hidden) {
        var links = all("a", hits), at = links.indexOf(doc.activeElement);
        if (at < 0 && doc.activeElement !== box) return;
        event.preventDefault();
        (links[at + (event.key === "ArrowDown" ? 1 : -1)] || box).focus();
      }
      if (event.key === "Enter" && doc.activeElement === box && one("a", hits)) one("a", hits).click();
    });
    doc.addEventListener("click", function (event) { if (!event.target.closest(".find")) hits.hidden = true; });
  }

  /* what is folded is printed */
  var folded = [];
  addEventListener("beforeprint", function () {
    folded = Array.prototype.filter.call(document.querySelectorAll("details.fold"), function (d) { return !d.open; });
    folded.forEach(function (d) { d.open = true; });
  });
  addEventListener("afterprint", function () { folded.forEach(function (d) { d.open = false; }); });

  /* which method: the cells nearest to a question, never interpolated */
  var ask = one("#ask");
  if (ask) {
    var cells = JSON.parse(one("#league-cells").textContent), answer = one("#answer");
    var number = function (id) { return parseFloat(one(id).value.replace(",", ".")); };
    var respond = function () {
      var n = number("#ask-n"), d = number("#ask-d"), e = number("#ask-e"), start = one("#ask-start").value;
      answer.textContent = "";
      if (!(n > 0 && d > 0 && e > 0)) {
        answer.appendChild(make("p", { "class": "warning" }, "n, d and ε are positive numbers, as 1e5, 20 and 1."));
        return;
      }
      var away = function (c) {
        return Math.abs(Math.log10(c.n * c.e / (n * e))) + Math.abs(Math.log10(c.d / d));
      };
      var groups = {};
      cells.forEach(function (c) {
        if (start && c.group !== start) return;
        if (!groups[c.group] || away(c) < away(groups[c.group])) groups[c.group] = c;
      });
      Object.keys(groups).forEach(function (name) {
        var c = groups[name];
        answer.appendChild(make("h3", {}, c.title + " at n = " + c.n + ", d = " + c.d + ", ε = " + c.e));
        var factors = [c.n * c.e / (n * e), c.d / d].map(function (f) { return +f.toPrecision(2); });
        var far = factors.some(function (f) { return f > 10 || f < 0.1; });
        answer.appendChild(make("p", far ? { "class": "warning" } : {}, (far ? "No cell is near. " : "") +
          "Factors from the question: " + factors[0] + " in n ε, " + factors[1] + " in d. The start has " + c.start + ", one gradient’s noise " + c.floor + "."));
        var list = make("ol");
        c.levels.slice(0, 5).forEach(function (l) {
          list.appendChild(make("li", {}, l[0] + ": " + l[1] + " [" + l[2] + ", " + l[3] + "]; " + l[4]));
        });
        answer.appendChild(list);
      });
      history.replaceState(null, "", "#" + ["n=" + n, "d=" + d, "e=" + e].concat(start ? ["start=" + encodeURIComponent(start)] : []).join("&"));
    };
    ask.onsubmit = function (event) { event.preventDefault(); respond(); };
    var asked = {};
    location.hash.slice(1).split("&").forEach(function (pair) { pair = pair.split("="); asked[pair[0]] = decodeURIComponent(pair[1] || ""); });
    if (asked.n) {
      one("#ask-n").value = asked.n;
      one("#ask-d").value = asked.d;
      one("#ask-e").value = asked.e;
      one("#ask-start").value = asked.start || "";
      respond();
    }
  }
})();
