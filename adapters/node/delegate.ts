/**
 * Objects that stand for a `Request`, `Response` or `Headers` and become a real one only when asked
 * for something rare. On Node, making a `Response` costs as much as the rest of a small answer.
 *
 * @module
 */

/**
 * Makes `lazy`, the prototype of a class, inherit from `real`, the prototype of a web class, so that
 * `instanceof` holds. Every member of `real` that `lazy` does not have itself is passed on to the
 * real object that `become` makes: the real accessors look into private state and refuse any other.
 *
 * @param become given the lazy object, returns the real one; the same one every time.
 */
export function delegate(
  lazy: object,
  real: object,
  become: (self: object) => object,
): void {
  Object.setPrototypeOf(lazy, real);
  for (const key of Reflect.ownKeys(real)) {
    const member = Object.getOwnPropertyDescriptor(real, key);
    if (member === undefined || Object.hasOwn(lazy, key)) continue;
    if (member.get !== undefined) {
      const { get } = member;
      Object.defineProperty(lazy, key, {
        configurable: true,
        get(this: object): unknown {
          return get.call(become(this));
        },
      });
    } else if (typeof member.value === "function") {
      const method: (...args: unknown[]) => unknown = member.value;
      Object.defineProperty(lazy, key, {
        configurable: true,
        writable: true,
        value(this: object, ...args: unknown[]): unknown {
          return method.apply(become(this), args);
        },
      });
    }
  }
}
