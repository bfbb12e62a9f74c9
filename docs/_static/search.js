// A whole error message finds the symptom: the search shows only pages with all words, and no
// page has the names of a user's layers.
document.addEventListener('DOMContentLoaded', () => {
  if (typeof Search === 'undefined') return;
  const query = Search.query;
  Search.query = (text) => query(symptomOf(text.replace(/\s+/g, ' ')) || text);
});

// The title of a symptom in whose message three dots stand for what differs.
function symptomOf(text) {
  const parts = (title) => title.replace(/^\w+: /, '').split('...').map((part) => part.trim());
  return Object.keys(Search._index.alltitles).find((title) =>
    /^\w+Error: /.test(title) && parts(title).every((part) => text.includes(part)));
}
