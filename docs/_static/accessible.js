// What the theme leaves out, for those who use a keyboard or a screen reader.
addEventListener('load', () => {
  const all = (selector) => document.querySelectorAll(selector);
  for (const box of all('.table-wrapper, .picture-box, pre')) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
  for (const label of all('label.overlay')) label.ariaHidden = 'true';
  for (const article of all('article[role=main]')) article.removeAttribute('role');
  for (const content of all('.article-container')) content.setAttribute('role', 'main');
  for (const aside of all('.sidebar-drawer')) aside.ariaLabel = 'All pages';
  for (const aside of all('.toc-drawer')) aside.ariaLabel = 'This page';
  if (!document.querySelector('h1')) {
    const heading = document.createElement('h1');
    heading.textContent = document.title;
    document.querySelector('article').prepend(heading);
  }
});
