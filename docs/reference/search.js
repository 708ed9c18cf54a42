// SPDX-License-Identifier: BSD-3-Clause

// The search of the HTML reference: finds entries of search-index.js, [title, address, summary,
// words], and lists them below the field. It needs no network.
"use strict";

// score is how well an entry has a word: in its title, else as the beginning of one of its words; 0:
// not at all.
function score(entry, word) {
	const title = entry[0].toLowerCase();
	if (title === word)
		return 100;
	if (title.startsWith(word))
		return 50;
	if (title.includes(word))
		return 20;
	return (" " + entry[3]).includes(" " + word) ? 1 : 0;
}

// find returns the entries that have all words of a query, the best first.
function find(entries, query) {
	const words = query.toLowerCase().match(/[a-z0-9_]+/g) || [];
	const found = [];
	for (const entry of words.length ? entries : []) {
		const scores = words.map(word => score(entry, word));
		if (Math.min(...scores) > 0)
			found.push([scores.reduce((a, b) => a + b), entry]);
	}
	return found.sort((a, b) => b[0] - a[0]).map(pair => pair[1]);
}

// show lists what was found below the field.
function show(field, list) {
	list.replaceChildren(...find(entries, field.value).slice(0, 20).map(entry => {
		const item = document.createElement("li"), link = document.createElement("a");
		link.href = entry[1];
		link.textContent = entry[0];
		item.append(link, " " + entry[2]);
		return item;
	}));
}

if (typeof document !== "undefined") {
	const field = document.getElementById("search"), list = document.getElementById("found");
	field.hidden = false;
	field.addEventListener("input", () => show(field, list));
	field.addEventListener("keydown", event => {
		const best = list.querySelector("a");
		if (event.key === "Enter" && best)
			location.href = best.href;
	});
	document.addEventListener("keydown", event => {
		if (event.key === "/" && document.activeElement !== field) {
			event.preventDefault();
			field.focus();
		}
	});
} else {
	module.exports = { find };
}
