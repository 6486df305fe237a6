/* Saves the picture of the view `run` as a file. */
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  lopsided: (() => {
    const save = (format) => (clicks, label) => {
      const picture = document.querySelector("#run-picture .js-plotly-plot");
      if (clicks && picture && window.Plotly) {
        window.Plotly.downloadImage(picture, { format, filename: label, width: 1000, height: 620, scale: 2 });
      }
      return window.dash_clientside.no_update;
    };
    return { save_png: save("png"), save_svg: save("svg") };
  })(),
});
