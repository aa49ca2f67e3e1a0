// Shows what is new on the page: asks for it again and takes over its main part. Without
// this script the browser loads the whole page again.
(() => {
	const every = 1000 * document.querySelector('meta[name="every"]').content;
	const state = document.createElement("p");
	state.className = "banner";
	state.setAttribute("role", "status");
	state.hidden = true;
	document.querySelector("header").append(state);
	const say = text => { state.hidden = !text; state.textContent = text; };
	async function renew() {
		if (!document.hidden) {
			try {
				const answer = await fetch(location.href, { cache: "no-store" });
				if (!answer.ok) throw new Error(answer.statusText);
				const next = new DOMParser().parseFromString(await answer.text(), "text/html");
				for (const part of ["main", "header > :not([role=status], nav)"]) {
					const [mine, theirs] = [document, next].map(d => [...d.querySelectorAll(part)]);
					if (mine.length === theirs.length) mine.forEach((e, i) => { if (e.outerHTML !== theirs[i].outerHTML) e.replaceWith(theirs[i]); });
					else location.reload();
				}
				say("");
				if (!next.querySelector('meta[name="every"]')) return; // it has ended
			} catch {
				say("⚠ No answer: rumbench serve has ended, or is not reached. What is shown is not new.");
			}
		}
		setTimeout(renew, every);
	}
	setTimeout(renew, every);
})();
