/** Starts Swagger UI with the service's OpenAPI document. Runs in the browser. */

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", followScheme);
followScheme();
start();

/** Swagger UI has a dark style, and leaves it to the page when to use it. */
function followScheme() {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

async function start() {
  const reference = document.querySelector("#reference");
  const address = new URL(reference.dataset.openapi, location.href);
  try {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`it is answered ${response.status}`);
    show(await response.json(), address);
  } catch (cause) {
    reference.className = "failed";
    reference.textContent = `Cannot show ${address}: ${cause.message}`;
  }
}

/** Requests go to the server that this page came from, whatever public address the document has. */
function show(spec, address) {
  const base = address.pathname.slice(0, address.pathname.lastIndexOf("/"));
  spec.info.description = `<details>
<summary>Read this before you write a client</summary>\n
${spec.info.description}\n</details>`;
  spec.components.securitySchemes.apiKey.description =
    "Ask the operator of this service for a key. If you started it yourself: the first start printed one, and `deno task keys issue NAME` (with the npm package, `petstore keys issue NAME`) issues another.";
  const ui = globalThis.SwaggerUIBundle({
    spec: { ...spec, servers: [{ url: base || "/" }] },
    dom_id: "#reference",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    persistAuthorization: false, // the key is gone with the page
    validatorUrl: null, // no badge from another server
    plugins: [{
      components: { ServersContainer: KeyState },
      wrapComponents: { responseBody: exactNumbers, responses: foldErrors },
      statePlugins: {
        auth: { wrapActions: { authorize: checkKey(`${base}/pets`) } },
        layout: { wrapSelectors: { isShown: foldService } },
      },
    }],
    onComplete: () => ui.specActions.updateUrl(address.pathname), // the link to the document
  });
}

/** Uses a key once the service accepts it; otherwise the form says why it does not. */
function checkKey(address) {
  return (authorize, { authActions, errActions }) => async (auths) => {
    const authId = "apiKey";
    const headers = { authorization: `Bearer ${auths[authId]?.value ?? ""}` };
    const message = await fetch(`${address}?limit=1`, { headers })
      .then(async (response) =>
        response.ok ? undefined : await reason(response)
      )
      .catch((cause) => cause.message);
    errActions.clear({ authId });
    if (message !== undefined) {
      return errActions.newAuthErr({ authId, level: "not accepted", message });
    }
    authorize(auths);
    authActions.showDefinitions(false);
  };
}

/** What an error response says; a proxy may send another than the service. */
async function reason(response) {
  const error = await response.json();
  return error?.message ?? `The answer is ${response.status}`;
}

/** In place of the list of servers, of which there is one. */
function KeyState({ React, authSelectors }) {
  const isAccepted = authSelectors.authorized().size > 0;
  const text = isAccepted ? "Key accepted" : "Requests need an API key";
  return React.createElement("p", { role: "status" }, text);
}

/** Folds the tag `service`, unless the address of the page leads into it. */
function foldService(isShown) {
  return (_state, thing, byDefault) =>
    isShown(thing, byDefault && `${thing}` !== "operations-tag,service");
}

function foldErrors(Original, { React: { createElement: h } }) {
  return ({ responses, tryItOutResponse, ...props }) => {
    const isError = (_response, status) => !(status < 400);
    const rest = { tryItOutResponse, responses: responses.filterNot(isError) };
    const errors = { responses: responses.filter(isError) };
    const list = h(Original, { ...props, ...errors });
    const folded = h("details", null, h("summary", null, "Errors"), list);
    return h("div", null, h(Original, { ...props, ...rest }), folded);
  };
}

/** Swagger UI shows JSON through JSON.parse, which rounds integers beyond 2^53. This does not. */
function exactNumbers(Original, { React: { createElement: h } }) {
  return (props) => {
    const text = prettyPrint(props.content);
    if (text === null) return h(Original, props);
    const file = { fileName: "response.json", downloadable: true };
    const code = { ...file, language: "json", canCopy: true, children: text };
    const body = h(props.getComponent("HighlightCode", true), code);
    return h("div", null, h("h5", null, "Response body"), body);
  };
}

/** Indents JSON text and keeps each number as it is written; `null` if the text is not JSON. */
function prettyPrint(text) {
  try {
    const keepNumber = (_key, value, context) =>
      typeof value === "number" ? JSON.rawJSON(context.source) : value;
    return JSON.stringify(JSON.parse(text, keepNumber), null, 2);
  } catch {
    return null;
  }
}
