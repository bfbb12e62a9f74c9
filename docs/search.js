// Fails unless the search of the built docs leads from each recorded message to its symptom.
//
//     node docs/search.js FOLDER
//
// The messages are those of docs/data/table.json, as Keras printed them, with and without the
// name of the exception. `CHROME` names the browser.
const path = require('path');
const puppeteer = require('puppeteer-core');
const records = require('./data/table.json');

const folder = process.argv[2];
const printed = records.map(({ figures }) => figures.released[1].split(', got ')[1] || '')
  .filter((reason) => /^\w+Error\b/.test(reason));
const messages = new Set(printed.flatMap((text) => [text, text.replace(/^\w+: /, '')]));

async function firstResult(page, message) {
  const url = 'file://' + path.resolve(folder, 'search.html');
  await page.goto(`${url}?q=${encodeURIComponent(message)}`);
  await page.waitForFunction(() => /finished|did not match/.test(
    document.querySelector('.search-summary')?.textContent));
  return page.evaluate(() => {
    const link = document.querySelector('ul.search a');
    return link ? [link.getAttribute('href'), link.textContent] : ['', ''];
  });
}

// Whether a message begins like the title of a section, with or without the exception.
function isAbout(title, message) {
  const shown = title.replace(/^.* > /, '').replace(/\.\.\..*/, '').trim();
  return message.startsWith(shown) || message.startsWith(shown.replace(/^\w+: /, ''));
}

(async () => {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROME || '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage();
  let missed = 0;
  for (const message of messages) {
    const [address, title] = await firstResult(page, message);
    if (address.includes('symptoms.html') && isAbout(title, message)) continue;
    console.log(`${message.slice(0, 90)}: found ${title || 'nothing'}`);
    missed += 1;
  }
  await browser.close();
  console.log(`${messages.size} messages, ${missed} of them not found.`);
  process.exit(missed || !messages.size ? 1 : 0);
})();
