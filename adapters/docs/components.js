/** Components of React in place of Swagger UI's, or around them. Runs in the browser. */

import { layOut } from "./exact_json.js";

const NO_KEY = "No valid API key was sent. Press Authorize at the top.";
const FILE = { fileName: "response.json", downloadable: true, canCopy: true };

/** Replaces the list of servers, because there is only one. */
export function KeyState({ React, authSelectors }) {
  const isAccepted = authSelectors.authorized().size > 0;
  const text = isAccepted ? "Key accepted" : "Requests need an API key";
  return React.createElement("p", { role: "status" }, text);
}

/** Keeps the focus in the key form until it is closed, by Escape too, and then restores it. */
export function asDialog(Original, { React, authActions }) {
  const h = React.createElement;
  const onClose = () => authActions.showDefinitions(false);
  return function Dialog(props) {
    const ref = React.useRef();
    React.useLayoutEffect(() => {
      const dialog = ref.current;
      dialog.showModal();
      dialog.querySelector("#auth-bearer-value")?.focus();
      return () => dialog.close();
    }, []);
    // The second click of two on Authorize must not take the focus.
    const onMouseDown = (event) => {
      if (!event.target.closest(".modal-ux")) event.preventDefault();
    };
    const attributes = { ref, onClose, onMouseDown, "aria-label": "Key" };
    return h("dialog", attributes, h(Original, props));
  };
}

/** Hides the key as it is entered, and tells password managers under which name to store it. */
export function hideKey(account) {
  return (Original, { React }) =>
    function KeyInput(props) {
      const { createElement: h } = React;
      const [isShown, show] = React.useState(false);
      if (props.id !== "auth-bearer-value") return h(Original, props);
      const key = {
        ...props,
        "aria-label": undefined,
        type: isShown ? "text" : "password",
        autoComplete: "current-password",
      };
      const user = { autoComplete: "username", value: account, readOnly: true };
      const toggle = { type: "checkbox", onChange: () => show(!isShown) };
      return h(
        "div",
        null,
        h("input", { ...user, hidden: true }),
        h("label", null, "API key", h(Original, key)),
        h("label", null, h("input", toggle), " Show"),
      );
    };
}

/** Folds the similar examples of errors; page.css folds their header fields too. */
export function foldErrors(Original, { React: { createElement: h } }) {
  return (props) => {
    const original = h(Original, props);
    const [, , , part, status] = props.specPath;
    if (part !== "responses" || status.startsWith("2")) return original;
    return h("details", null, h("summary", null, "Details"), original);
  };
}

/** Execute waits for its operation, and keeps the focus: a disabled button loses it. */
export function ignoreClicks(Original, { React: { createElement: h } }) {
  return ({ disabled, ...props }) => {
    if (disabled) props.specActions = { ...props.specActions, execute() {} };
    return props.operation.size > 0 && h(Original, props);
  };
}

/** Shows the answer, then what was sent, then the header fields as received. */
export function showAnswer(_Original, { React, fn, specSelectors }) {
  const h = React.createElement;
  return function Answer({ response, getComponent, path, method }) {
    const ref = React.useRef();
    React.useEffect(() => {
      ref.current.scrollIntoView({ block: "nearest" });
    }, []);
    const { status, statusCode, message, text, headers = {}, duration } =
      response.toJS();
    const title = status ??
      (statusCode ? `${statusCode}, cut short` : message);
    const code = (language, children, props) =>
      h(getComponent("HighlightCode", true), { ...props, language, children });
    const fields = Object.entries(headers).map(([name, values]) =>
      `${name}: ${[values].flat().join(", ")}`
    );
    const request = specSelectors.mutatedRequestFor(path, method);
    const curl = fn.requestSnippetGenerator_curl_bash(request)
      .replace(/(authorization: bearer )(?:[^']|'\\'')*/i, "$1$KEY");
    return h(
      "div",
      { className: "answer" },
      h(
        "div",
        { ref, "aria-live": "polite" },
        h("h4", null, title, duration && ` in ${duration} ms`),
        status === 401 && h("p", { role: "alert" }, NO_KEY),
        text && code("json", layOut(text), FILE),
      ),
      h(getComponent("curl", true), { request }), // its button copies the key too
      code("bash", curl),
      h("h4", null, "Response headers"),
      code("http", fields.join("\n")),
    );
  };
}
