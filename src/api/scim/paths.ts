import { ScimError } from '../../services/provisioning/scim-error.ts';

const MAX_CHARS = 1_000;
const ATTRIBUTE = String.raw`(?:(urn:[^\s\[\]"]*):)?([A-Za-z$][\w$-]*)`;
const LITERAL = String.raw`("(?:[^"\\]|\\.)*"|true|false|null|-?\d+(?:\.\d+)?)`;
const SUB = String.raw`(?:\.([A-Za-z$][\w$-]*))?`;
const PATH = new RegExp(String.raw`^${ATTRIBUTE}(?:\[([^\]]*)\])?${SUB}$`);
const CONDITION = new RegExp(String.raw`^\s*${ATTRIBUTE}(?:\[[^\]]*\])?${SUB}\s+(\w+)(?:\s+${LITERAL})?\s*$`);
/** Matches `and` between conditions, but not inside a string. */
const AND = /\s+and\s+(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)/i;

/** Schemas whose attributes have short names; attributes of other schemas are not stored. */
const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group)$/i;

/** `attribute eq value`. Names are lowercase because they are case-insensitive. */
export interface Condition {
  attribute: string;
  sub: string | undefined;
  value: string | boolean | number | null;
}

/** The target of a PATCH operation: `emails[type eq "work"].value`. */
export interface Path {
  attribute: string;
  filter: Condition[] | undefined;
  sub: string | undefined;
}

/** An attribute of an extension keeps its fully qualified name. */
const nameOf = (urn: string | undefined, name: string) =>
  (urn === undefined || CORE.test(urn) ? name : `${urn}:${name}`).toLowerCase();

/**
 * Parses the filters that identity providers send: equality conditions joined by `and` (RFC 7644, section 3.4.2.2).
 * @throws ScimError `invalidFilter`
 */
export function parseFilter(text: string): Condition[] {
  const refuse = (why: string): never => {
    throw new ScimError(400, 'invalidFilter', `${why}: a filter is attribute eq "value", or several joined by "and".`);
  };
  if (text.length > MAX_CHARS) return refuse('The filter is too long');
  return text.split(AND).map((part) => {
    const found = CONDITION.exec(part);
    if (found === null) return refuse(`"${part.slice(0, 100)}" is not understood`);
    const [, urn, name = '', sub, operator = '', literal] = found;
    if (operator.toLowerCase() !== 'eq' || literal === undefined)
      return refuse(`The operator "${operator.slice(0, 20)}" is not supported`);
    let value: Condition['value'];
    try {
      value = JSON.parse(literal);
    } catch {
      return refuse('A text is not a JSON string');
    }
    return { attribute: nameOf(urn, name), sub: sub?.toLowerCase(), value };
  });
}

/** @throws ScimError `invalidPath`, `invalidFilter` */
export function parsePath(text: string): Path {
  const found = text.length > MAX_CHARS ? null : PATH.exec(text.trim());
  if (found === null) throw new ScimError(400, 'invalidPath', `"${text.slice(0, 100)}" is not an attribute path.`);
  const [, urn, name = '', filter, sub] = found;
  return {
    attribute: nameOf(urn, name),
    filter: filter === undefined ? undefined : parseFilter(filter),
    sub: sub?.toLowerCase(),
  };
}
