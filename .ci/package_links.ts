/**
 * The links of documents in the npm package, where many files of this repository are missing.
 *
 * @module
 */

import { posix } from "node:path";

/** Markdown, and where it is in the repository and in the package. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

/** Places to link to. */
export interface Targets {
  /** Returns if the package has a file or folder; the path is from its root. */
  readonly isInPackage: (path: string) => boolean;
  /** The address of the repository, such as `https://github.com/OWNER/NAME`, if it has one. */
  readonly repository?: string | undefined;
}

const LINK = /(!?)\[((?:`[^`]*`|[^\]`])*)\]\(([^)]+)\)/g;

/**
 * Keeps links to what is in the package. Other relative links lead to the repository, or are left out if
 * that has no address: the text of a link stays, and of an image nothing.
 *
 * @returns the Markdown, and the paths of the files that are no longer linked, from the root.
 */
export function linkInPackage(
  { path, text }: Document,
  { isInPackage, repository }: Targets,
): { readonly text: string; readonly leftOut: readonly string[] } {
  const leftOut: string[] = [];
  const linked = text.replaceAll(
    LINK,
    (link, mark: string, label: string, address: string) => {
      if (/^(?:#|\w+:)/.test(address)) return link;
      const [relative = "", ...heading] = address.split("#");
      const target = posix.join(posix.dirname(path), relative);
      if (isInPackage(target)) return link;
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
