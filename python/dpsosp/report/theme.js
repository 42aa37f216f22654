/* Before the page is drawn, so that it does not flash. */
(function () {
  var theme = /[?&]theme=(dark|light)/.exec(location.search);
  try { theme = theme ? theme[1] : localStorage.theme; } catch (e) { theme = theme && theme[1]; }
  if (theme) document.documentElement.dataset.theme = theme;
})();
