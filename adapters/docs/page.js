/** Starts Swagger UI with the service's OpenAPI document. Runs in the browser. */

// deno-lint-ignore-file no-window -- this runs in a browser only

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
  const ui = window.SwaggerUIBundle({
    spec: { ...spec, servers: [{ url: base || "/" }] },
    dom_id: "#reference",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    persistAuthorization: false, // the key is gone with the page
    validatorUrl: null, // no badge from another server
    plugins: [exactNumbers],
    onComplete: () => ui.specActions.updateUrl(address.pathname), // the link to the document
  });
}

/** Swagger UI shows JSON through JSON.parse, which rounds integers beyond 2^53. This does not. */
function exactNumbers(system) {
  return {
    wrapComponents: {
      responseBody: (Original) => (props) => {
        const { content, contentType, getComponent } = props;
        const { React } = system.getSystem();
        const text = /json/i.test(contentType) ? prettyPrint(content) : null;
        if (text === null) return React.createElement(Original, props);
        return React.createElement(
          "div",
          null,
          React.createElement("h5", null, "Response body"),
          React.createElement(getComponent("HighlightCode", true), {
            language: "json",
            downloadable: true,
            fileName: "response.json",
            canCopy: true,
            children: text,
          }),
        );
      },
    },
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
