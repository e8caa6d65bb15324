/* SPDX-License-Identifier: Apache-2.0 */
/* Appended to Sphinx' language_data.js. The index has Chinese words as jieba cuts them; a question is
 * cut here into the longest words that the index knows. Sphinx ignores numbers in questions; the page
 * of an error code has its number as messages spell it, E107000. */
window.Stemmer = EnglishStemmer;
var splitQuery = function (query) {
  const known = (word) => Object.prototype.hasOwnProperty.call(Search._index.terms, word);
  const found = [];
  for (const part of query.split(/[^\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/gu)) {
    if (!/[\u3400-\u9fff]/.test(part)) {
      if (part) found.push(/^\d{4,}$/.test(part) ? "E" + part : part);
      continue;
    }
    for (let at = 0; at < part.length;) {
      let end = part.length;
      while (end > at + 1 && !known(part.slice(at, end))) --end;
      if (end > at + 1 || known(part[at])) found.push(part.slice(at, end));
      at = end;
    }
  }
  return found;
};
