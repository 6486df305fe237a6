// Says so, once the process behind this page has ended: without this the page only stops answering.
(() => {
  const alive = `/${location.pathname.split("/")[1]}/assets/style.css`;
  let banner = null;
  const look = async () => {
    let ended = false;
    try {
      ended = !(await fetch(alive, { method: "HEAD", cache: "no-store" })).ok;
    } catch {
      ended = true;
    }
    if (ended && !banner) {
      const folder = document.querySelector("header .folder")?.textContent ?? "DIR";
      banner = document.createElement("p");
      banner.className = "ended";
      banner.setAttribute("role", "alert");
      banner.textContent = `The explorer has ended, and this page is no longer kept up. Start it again: lopsided explore ${folder}`;
      document.body.prepend(banner);
    } else if (!ended && banner) {
      banner.remove();
      banner = null;
    }
  };
  setInterval(look, 3000);
})();
