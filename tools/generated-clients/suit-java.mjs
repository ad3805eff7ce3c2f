// Removes the parts of openapi.json from which openapi-generator creates Java that does not compile: node suit-java.mjs openapi.json suited.json
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';

/** What a field is by default, which it misspells for lists and unions, and that one is always `true` or always `false`. */
const isLost = (key, value) =>
  key === 'default'
    ? Array.isArray(value) || !(value instanceof Object)
    : key === 'const' && typeof value === 'boolean';

/** @returns one list for a union of lists of the same, which it declares twice; how long it may be, the service checks */
function united(schema) {
  const { anyOf, ...rest } = schema;
  const [first, ...others] = Array.isArray(anyOf) ? anyOf : [];
  const isSame = ({ type, items }) => type === 'array' && JSON.stringify(items) === JSON.stringify(first.items);
  if (others.length === 0 || ![first, ...others].every(isSame)) return schema;
  return { ...rest, type: 'array', items: first.items };
}

function suit(key, value) {
  if (isLost(key, value)) return undefined;
  return value instanceof Object && !Array.isArray(value) ? united(value) : value;
}

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) throw new Error('Usage: node suit-java.mjs openapi.json suited.json');
writeFileSync(to, JSON.stringify(JSON.parse(readFileSync(from, 'utf8'), suit)));
