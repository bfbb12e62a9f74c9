// Runs axe-core on every page, at a desktop's and a phone's width, light and dark.
//
//     node docs/a11y.js FOLDER [SCREENSHOTS]
//
// `CHROME` names the browser. Exit status 1 if something is found.
const fs = require('fs');
const path = require('path');
const puppeteer = require('puppeteer-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const [folder, screenshots] = process.argv.slice(2);
const sizes = { desktop: [1280, 900], phone: [375, 812] };

async function visit(page, name, size, scheme) {
  const [width, height] = sizes[size];
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto('file://' + path.resolve(folder, name));
  if (screenshots) {
    const file = `${name.replace('.html', '')}-${size}-${scheme}.png`;
    await page.screenshot({ path: path.join(screenshots, file), fullPage: true });
  }
  await page.evaluate(axe);
  const found = await page.evaluate(async () => [
    ...(await axe.run()).violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html}\n    ${node.failureSummary}`)),
    ...(document.documentElement.scrollWidth > innerWidth ? ['the page overflows'] : []),
  ]);
  for (const each of found) console.log(`${name}, ${size}, ${scheme}: ${each}`);
  return found.length;
}

(async () => {
  if (screenshots) fs.mkdirSync(screenshots, { recursive: true });
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROME || '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage();
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.html'));
  let count = 0;
  for (const name of names) for (const size of Object.keys(sizes)) {
    for (const scheme of ['light', 'dark']) count += await visit(page, name, size, scheme);
  }
  await browser.close();
  console.log(`${names.length} pages, ${count} findings.`);
  process.exit(count ? 1 : 0);
})();
