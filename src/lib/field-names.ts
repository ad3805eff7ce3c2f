type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${Uncapitalize<First>}${Rest extends Uncapitalize<Rest> ? '' : '_'}${Snake<Rest>}`
  : '';

const renamed = (fields: object, rename: (name: string) => string) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]));

/** The same values under the names that the code uses: `min_cost` becomes `minCost`. */
export const toCamel = <Fields extends object>(fields: Fields) =>
  renamed(fields, (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())) as {
    [Name in keyof Fields as Camel<Name & string>]: Fields[Name];
  };

/**
 * The same values under the names of the API: `minCost` becomes `min_cost`. Undefined ones are left out.
 * @param order the names of the API in their order, which stored JSON does not keep
 */
export const toSnake = <Fields extends object>(fields: Fields, order: readonly string[]) => {
  const named = renamed(fields, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return Object.fromEntries(order.flatMap((name) => (named[name] === undefined ? [] : [[name, named[name]]]))) as {
    [Name in keyof Fields as Snake<Name & string>]: Fields[Name];
  };
};
