/**
 * Adapts the links of documents in the npm package, which lacks many files of this repository.
 *
 * @module
 */

import { posix } from "node:path";

/** Markdown, and its path in the repository and in the package. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

/** Places to link to. */
export interface Targets {
  /** Tells whether the package has a file or folder; the path is relative to its root. */
  readonly isInPackage: (path: string) => boolean;
  /** The address of the repository, such as `https://github.com/OWNER/NAME`, if it has one. */
  readonly repository?: string | undefined;
}

const LINK = /(!?)\[((?:`[^`]*`|[^\]`])*)\]\(([^)]+)\)/g;

/** Matches text that is only links, in parentheses or as a paragraph about tests. */
const ASIDE =
  /\s\((?:\[[^\]]*\]\([^)]+\)(?:,\s+)?)+\)|^Tests?:\s(?:\[[^\]]*\]\([^)]+\)(?:,\s+)?)+\n/gm;

/**
 * Keeps links to what is in the package. Other relative links lead to the repository, or are
 * removed if it has no address: an aside that is only such links goes, and so does an image; of
 * other links the text stays. All links of the README lead to the repository, if it has an address.
 *
 * @returns the Markdown, and the paths of the files that are no longer linked, from the root.
 */
export function linkInPackage(
  { path, text }: Document,
  { isInPackage, repository }: Targets,
): { readonly text: string; readonly leftOut: readonly string[] } {
  const leftOut: string[] = [];
  const targetOf = (address: string) =>
    posix.join(posix.dirname(path), address.replace(/#.*/, ""));
  // A registry shows only the README.
  const isAlone = repository !== undefined && path === "README.md";
  const isOut = (address: string) =>
    !/^(?:#|\w+:)/.test(address) &&
    (isAlone || !isInPackage(targetOf(address)));
  const said = text.replaceAll(ASIDE, (aside) => {
    const addresses = Array.from(aside.matchAll(LINK), ([, , , to = ""]) => to);
    if (repository !== undefined || !addresses.every(isOut)) return aside;
    leftOut.push(...addresses.map(targetOf));
    return "";
  });
  const linked = said.replaceAll(
    LINK,
    (link, mark: string, label: string, address: string) => {
      if (!isOut(address)) return link;
      const [, ...heading] = address.split("#");
      const target = targetOf(address);
      if (repository !== undefined) {
        const view = mark === "!" ? "raw" : "blob";
        const place = [target, ...heading].join("#");
        return `${mark}[${label}](${repository}/${view}/HEAD/${place})`;
      }
      leftOut.push(target);
      return mark === "!" ? "" : label;
    },
  );
  return { text: linked, leftOut };
}
