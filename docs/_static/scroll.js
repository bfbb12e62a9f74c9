// What scrolls can be reached by the keyboard.
addEventListener('load', () => {
  for (const box of document.querySelectorAll('.table-wrapper, .picture-box, pre')) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
