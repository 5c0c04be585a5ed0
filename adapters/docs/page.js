/** Starts Swagger UI with the service's OpenAPI document. Runs in the browser. */

import {
  asDialog,
  foldErrors,
  hideKey,
  ignoreClicks,
  KeyState,
  showAnswer,
} from "./components.js";
import { exactExamples } from "./exact_json.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", followScheme);
followScheme();
start();

/** Swagger UI has a dark style, but the page decides when to use it. */
function followScheme() {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

/**
 * Attributes, by selector, for what Swagger UI names wrongly or not at all; page.css shows some.
 */
const ATTRIBUTES = Object.entries({
  ".body-param__text": ["aria-label", "Request body"],
  ".close-modal": ["aria-label", "Close"],
  ".modal-btn.authorize": ["aria-label", "Authorize"],
  ".modal-btn[aria-label^=Remove]": ["aria-label", "Forget"],
  '[data-param-name="status"] select': ["aria-label", "status"],
  ".examples-select-element": ["aria-label", "Example"],
  ".auth-container h6": ["aria-level", 3],
  ".content-type:has(option:only-child)": ["disabled", ""], // no choice
  ".info": ["role", "banner"],
  ".responses-table": ["role", "table"], // not a region without a name
});

/** Texts, by selector, where Swagger UI's own say something else. */
const TEXTS = Object.entries({
  ".btn.authorize.unlocked span": "Authorize",
  ".btn.authorize.locked span": "Change key",
  ".modal-btn[aria-label=Forget]": "Forget",
  ".modal-ux-header h3": "API key",
});

/** The key's name in the document and in Swagger UI's state. */
const AUTH_ID = "apiKey";
const ALWAYS = () => () => true;

async function start() {
  const reference = document.querySelector("#reference");
  const address = new URL(reference.dataset.openapi, location);
  try {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`the answer is ${response.status}`);
    const text = await response.text();
    const spec = JSON.parse(text, JSON.rawJSON && exactExamples);
    correctMarkup(reference);
    show(spec, address, openStore(reference));
  } catch (cause) {
    reference.className = "failed";
    reference.textContent = `Cannot show ${address}: ${cause.message}`;
  }
}

/** Sets attributes and texts, and fixes heading levels, again whenever Swagger UI draws. */
function correctMarkup(reference) {
  new MutationObserver(() => {
    for (const [selector, attribute] of ATTRIBUTES) {
      for (const element of reference.querySelectorAll(selector)) {
        element.setAttribute(...attribute);
      }
    }
    for (const heading of reference.querySelectorAll("h3, h4, h5")) {
      heading.setAttribute("aria-level", heading.tagName[1] - 1);
    }
    // A link inside a button cannot be reached; the address bar shows its target too.
    for (const link of reference.querySelectorAll("button a[href]")) {
      link.removeAttribute("href");
    }
    for (const [selector, text] of TEXTS) {
      const element = reference.querySelector(selector);
      if (element && element.textContent !== text) element.textContent = text;
    }
  }).observe(reference, { childList: true, subtree: true });
}

/** Keeps the key across reloads of this tab; `undefined` if page or browser forbid it. */
function openStore({ dataset }) {
  try {
    return dataset.rememberKey === "true" ? sessionStorage : undefined;
  } catch {
    return undefined;
  }
}

/** Requests go to the server that sent this page, whatever public address the document has. */
function show(spec, address, store) {
  const base = new URL(".", address);
  const item = `API key of ${base.pathname}`; // an origin may have several services
  spec.info.description = `<details>
<summary>Read this before you write a client</summary>\n
${spec.info.description}\n</details>`;
  const schema = spec.components.securitySchemes[AUTH_ID];
  const end = store ? "you close this tab or press Forget" : "you reload";
  schema.description = document.querySelector("template").innerHTML
    .replace(/^ +/gm, "").replace("__end__", end); // Markdown
  const ui = globalThis.SwaggerUIBundle({
    spec: { ...spec, servers: [{ url: base.href }] },
    dom_id: "#reference",
    defaultModelsExpandDepth: 0,
    deepLinking: true, // an address for each operation
    syntaxHighlight: { theme: "tomorrow-night" }, // the default is too dark
    tryItOutEnabled: true,
    validatorUrl: null, // no badge from another server
    plugins: [{
      components: { ServersContainer: KeyState },
      wrapComponents: {
        authorizationPopup: asDialog,
        execute: ignoreClicks,
        Input: hideKey(item),
        liveResponse: showAnswer,
        modelExample: foldErrors,
      },
      statePlugins: {
        // The service itself says what is wrong with a request.
        spec: { wrapSelectors: { validateBeforeExecute: ALWAYS } },
        oas3: { wrapSelectors: { validateBeforeExecute: ALWAYS } },
        layout: { wrapActions: { scrollToElement: stopBelowBar } },
        auth: {
          wrapActions: {
            authorize: checkKey(
              new URL("pets?limit=1", base),
              (key) => store?.setItem(item, key),
            ),
            logout: (logout, { authSelectors }) => (authIds) => {
              store?.removeItem(item);
              if (authSelectors.authorized().size > 0) logout(authIds);
            },
          },
        },
      },
    }],
    requestInterceptor(request) {
      const signal = AbortSignal.timeout(60_000); // or Execute waits for ever
      return { ...request, signal, cache: "no-store" };
    },
    async responseInterceptor(response) { // a method of the request
      const key = ui.authSelectors.authorized().getIn([AUTH_ID, "value"]);
      const { Authorization } = this.headers; // maybe another key
      if (response.status === 401 && Authorization === `Bearer ${key}`) {
        ui.authActions.logout([AUTH_ID]);
      }
      // Without a type of text, as in a 304, it is a Blob, which Swagger UI cannot show.
      response.text = response.data = await new Response(response.data).text();
    },
    onComplete() {
      ui.specActions.updateUrl(address.pathname); // the link to the document
      const { getSampleSchema } = ui.fn; // which would parse text again
      ui.fn.getSampleSchema = (...args) =>
        typeof args[3] === "string" ? args[3] : getSampleSchema(...args);
      const value = store?.getItem(item);
      if (value) ui.authActions.authorize({ [AUTH_ID]: { schema, value } });
    },
  });
}

/** Scrolls to an operation, below the bar at the top. */
function stopBelowBar(scroll) {
  return ({ offsetTop }) =>
    scroll({ offsetTop: offsetTop - 60 }, document.documentElement);
}

/** Uses and keeps a key once the service accepts it; otherwise the form says why not. */
function checkKey(address, keep) {
  let latest;
  return (authorize, { authActions, errActions }) => async (auths) => {
    const key = auths[AUTH_ID]?.value ?? "";
    const check = latest = {};
    errActions.clear({ authId: AUTH_ID });
    const headers = { authorization: `Bearer ${key}` };
    const init = { headers, cache: "no-store" }; // with a cache, requests wait for each other
    const answer = await fetch(address, init).catch((cause) => cause);
    const body = await answer.json?.().catch(() => {});
    if (check !== latest) return; // another key was entered
    if (answer.ok) {
      authorize(auths);
      authActions.showDefinitions(false);
      return keep(key); // last, because it throws if the storage is full
    }
    if (answer.status === 401) authActions.logout([AUTH_ID]);
    const { message = "the answer is an error" } = body ?? answer; // a proxy's has no message
    errActions.newAuthErr({ authId: AUTH_ID, level: "not accepted", message });
  };
}
