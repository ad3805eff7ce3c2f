import { parseSync } from 'vite';

// The places of user-visible text other than between tags. docs/translating.md explains them.

const words = (...lines: string[]) => new Set(lines.join(' ').split(' '));

/** Attributes of components and elements with user-visible text. */
const ATTRIBUTES = words(
  'aria-label aria-roledescription label title placeholder description hint headersHint submitLabel what error',
  'heading lead none nothing empty fallback xTitle yTitle missing done',
);
/** Object properties with user-visible text. */
const PROPERTIES = words('label header title hint text note why action submit done allows detail cell back');
/** Functions whose first argument is user-visible text. */
const FUNCTIONS = words('t showToast showUndo useTitle Error');
/** Elements whose text is code. */
const CODE = words('code pre kbd samp');
/** Nodes that can surround an expression. */
const WRAPPERS = words(
  'TSAsExpression TSSatisfiesExpression TSNonNullExpression ParenthesizedExpression ChainExpression',
);

/** A node of the syntax tree in ESTree format, with its extensions for JSX and TypeScript. */
// biome-ignore lint/suspicious/noExplicitAny: each node type has its own properties
export type Node = any;

export interface Range {
  start: number;
  end: number;
}

/** A part of a message. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'value'; name: string; node: Node }
  /** `hasNumber`: the number itself precedes the words. */
  | { kind: 'plural'; count: Node; one: Part[]; other: Part[]; hasNumber: boolean }
  /** `children`: undefined if the element itself has no text. */
  | { kind: 'element'; name: string; node: Node; children: Part[] | undefined };

export interface Message extends Range {
  /** Its key in catalogs: the English text with `{placeholders}`, for a plural `one|other`, and ` [context]`. */
  key: string;
  parts: Part[];
  /** White space that is not translated. */
  before: string;
  after: string;
  /** The kind of place in the source. */
  place: 'expression' | 'attribute' | 'children';
}

/** A placeholder, or an escaped character. */
export const TOKEN = /\\([\\{<|])|\{(\w+)\}|<(\d+)(\/?)>|<\/(\d+)>/g;

const TAG = /<\/?\d+\/?>/g;

const isText = (text: string) => /\p{L}{2}/u.test(text);
/** Whether it is a path, an address or an API name. */
const isCode = (text: string) => !/\s/.test(text) && /[/_@]/.test(text);

/** Text between tags as interpreted by JSX: without line breaks and the white space around them. */
function cook(text: string): string {
  const lines = text.split('\n');
  return lines
    .map((line, at) => {
      const begun = at === 0 ? line : line.trimStart();
      return at === lines.length - 1 ? begun : begun.trimEnd();
    })
    .filter((line) => line !== '')
    .join(' ');
}

export function findPlural(parts: Part[]): Extract<Part, { kind: 'plural' }> | undefined {
  for (const part of parts) {
    const found = part.kind === 'element' ? findPlural(part.children ?? []) : part;
    if (found?.kind === 'plural') return found;
  }
  return undefined;
}

/** A message as text: one form, or singular and plural. */
function formsOf(parts: Part[]): string[] {
  const write = (all: Part[], form: 'one' | 'other'): string =>
    all
      .map((part) => {
        if (part.kind === 'text') return part.text.replace(/[\\{<|]/g, '\\$&');
        if (part.kind === 'value') return `{${part.name}}`;
        if (part.kind === 'plural') return `${part.hasNumber ? '{n} ' : ''}${write(part[form], form)}`;
        const { name, children } = part;
        return children === undefined ? `<${name}/>` : `<${name}>${write(children, form)}</${name}>`;
      })
      .join('');
  return findPlural(parts) === undefined ? [write(parts, 'other')] : [write(parts, 'one'), write(parts, 'other')];
}

/** Removes white space at both ends. */
function trim(parts: Part[]): Pick<Message, 'parts' | 'before' | 'after'> {
  const [first, last] = [parts.at(0), parts.at(-1)];
  const before = first?.kind === 'text' ? (/^\s*/.exec(first.text)?.[0] ?? '') : '';
  const after = last?.kind === 'text' ? (/\s*$/.exec(last.text)?.[0] ?? '') : '';
  const trimmed = parts.map((part) => {
    if (part.kind !== 'text') return part;
    const begun = part === first ? part.text.trimStart() : part.text;
    return { ...part, text: part === last ? begun.trimEnd() : begun };
  });
  return { before, after, parts: trimmed };
}

/** A call of `plural` or `pluralWord`. */
const isPlural = (node: Node) => node?.type === 'CallExpression' && /^plural(Word)?$/.test(node.callee.name);
const isString = (node: Node) => node.type === 'TemplateLiteral' || typeof node.value === 'string';
/** Such as `[…].filter(…).join(' ')`. */
const isJoined = (node: Node) =>
  node.type === 'CallExpression' && /^(join|filter)$/.test(node.callee.property?.name ?? '');

/** Whether an element's child is text, as opposed to a node that can contain text. */
const isSpoken = (child: Node): boolean =>
  child.type === 'JSXText'
    ? isText(child.value)
    : child.type === 'JSXExpressionContainer' &&
      (isPlural(child.expression) || (isString(child.expression) && isText(child.expression.value ?? 'template')));

/** Whether only explicitly marked expressions in an element are translated. */
const isVerbatim = ({ openingElement: tag }: Node): boolean =>
  CODE.has(tag?.name.name) ||
  tag?.attributes.some(({ name, value }: Node) => name?.name === 'translate' && value?.value === 'no') === true;

const hasText = (node: Node): boolean => !isVerbatim(node) && node.children.some(isSpoken);

/** Whether a child at either end of a text is not part of it: an icon, a field, a space, conditional content. */
function isMute(child: Node): boolean {
  if (child.type === 'JSXText') return child.value.trim() === '';
  if (child.type === 'JSXElement' && child.closingElement === null) {
    const { name, attributes } = child.openingElement;
    return /^[a-z]/.test(name.name ?? '') || attributes.some((each: Node) => each.name?.name === 'aria-hidden');
  }
  if (child.type !== 'JSXExpressionContainer')
    return !hasText(child) && child.children.some(({ type }: Node) => type === 'JSXElement');
  const { type, value } = child.expression;
  return /^(Logical|Conditional|JSXEmpty)Expression$/.test(type) || (typeof value === 'string' && value.trim() === '');
}

/** The placeholder name of an expression: `formatCost(run.cost)` is `cost`. Undefined if it has none. */
function nameOf(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression') return node.computed ? undefined : node.property.name;
  if (WRAPPERS.has(node.type)) return nameOf(node.expression);
  const isCall = node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.arguments.length > 0;
  return isCall ? nameOf(node.arguments[0]) : undefined;
}

/**
 * All messages of a file, in no particular order. One can be inside a placeholder of another.
 * @throws Error if the file can't be parsed
 */
export function messagesOf(file: string, code: string): Message[] {
  const { program, errors } = parseSync(file, code);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const messages: Message[] = [];

  /** The names of a message's placeholders. */
  class Names {
    readonly #sources = new Map<string, string>();
    #values = 0;
    #elements = 0;
    /** A sentence has plural forms for one count only: other counts are plain values. */
    hasPlural = false;

    value(node: Node): string {
      const source = code.slice(node.start, node.end);
      for (const [name, known] of this.#sources) if (known === source) return name;
      const wanted = nameOf(node);
      const name = wanted === undefined || wanted === 'n' || this.#sources.has(wanted) ? `${++this.#values}` : wanted;
      this.#sources.set(name, source);
      return name;
    }

    element(): string {
      return `${++this.#elements}`;
    }
  }

  /** A string, a template, or a concatenation with one of them. Undefined for anything else. */
  function stringParts(node: Node, names: Names): Part[] | undefined {
    if (node.type === 'Literal' && typeof node.value === 'string') return [{ kind: 'text', text: node.value }];
    if (node.type === 'TemplateLiteral')
      return node.quasis.flatMap((quasi: Node, at: number) => [
        { kind: 'text', text: quasi.value.cooked },
        ...(quasi.tail ? [] : valueParts(node.expressions[at], names)),
      ]);
    if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
    const [left, right] = [stringParts(node.left, names), stringParts(node.right, names)];
    if (left === undefined && right === undefined) return undefined;
    return [...(left ?? valueParts(node.left, names)), ...(right ?? valueParts(node.right, names))];
  }

  function valueParts(node: Node, names: Names): Part[] {
    if (!isPlural(node) || names.hasPlural)
      return stringParts(node, names) ?? [{ kind: 'value', name: names.value(node), node }];
    names.hasPlural = true;
    const [count, one, other] = node.arguments;
    const hasNumber = node.callee.name === 'plural';
    return [{ kind: 'plural', count, one: valueParts(one, names), other: valueParts(other, names), hasNumber }];
  }

  function childParts(children: Node[], names: Names): Part[] {
    return children.flatMap((child): Part[] => {
      if (child.type === 'JSXText') return [{ kind: 'text', text: cook(child.value) }];
      if (child.type === 'JSXExpressionContainer')
        return child.expression.type === 'JSXEmptyExpression' ? [] : valueParts(child.expression, names);
      const name = names.element();
      return [
        {
          kind: 'element',
          name,
          node: child,
          children: hasText(child) ? childParts(child.children, names) : undefined,
        },
      ];
    });
  }

  /** Adds a message, and the messages in its placeholders. */
  function add(all: Part[], { start, end }: Range, place: Message['place'], context = ''): void {
    const trimmed = trim(all);
    const forms = formsOf(trimmed.parts);
    const said = forms.join(' ').replace(TOKEN, (_token, escaped: string | undefined) => escaped ?? ' ');
    if (isText(said) && !isCode((forms[0] ?? '').replace(TAG, '')))
      messages.push({ ...trimmed, key: forms.join('|') + context, start, end, place });
    addInner(all);
  }

  function addInner(parts: Part[]): void {
    for (const part of parts)
      if (part.kind === 'value') text(part.node);
      else if (part.kind === 'plural') {
        walk(part.count);
        addInner([...part.one, ...part.other]);
      } else if (part.kind === 'element') {
        if (part.children === undefined) walk(part.node);
        else {
          walk(part.node.openingElement);
          addInner(part.children);
        }
      }
  }

  /** Extracts text from an expression whose value is user-visible. */
  function text(node: Node, place: Message['place'] = 'expression', context = ''): void {
    const parts = stringParts(node, new Names());
    if (parts !== undefined) add(parts, node, place, context);
    else if (node.type === 'ConditionalExpression') {
      walk(node.test);
      text(node.consequent, place, context);
      text(node.alternate, place, context);
    } else if (node.type === 'LogicalExpression') {
      if (node.operator === '&&') walk(node.left);
      else text(node.left);
      text(node.right);
    } else if (WRAPPERS.has(node.type)) text(node.expression);
    else if (node.type === 'ArrayExpression') for (const element of node.elements) text(element);
    else if (node.type === 'ArrowFunctionExpression' && node.expression) {
      walk(node.params);
      text(node.body);
    } else if (isJoined(node)) {
      text(node.callee.object);
      walk(node.arguments);
    } else walk(node);
  }

  /** Looks into an element or a fragment. */
  function element(node: Node): void {
    walk(node.openingElement?.attributes);
    const { children } = node;
    const look = (each: Node[]) => {
      for (const child of each)
        if (child.type !== 'JSXExpressionContainer' || isVerbatim(node)) walk(child);
        else text(child.expression);
    };
    if (!hasText(node)) {
      look(children);
      return;
    }
    const isSaid = (child: Node) => !isMute(child);
    const [first, last] = [children.findIndex(isSaid), children.findLastIndex(isSaid)];
    look(children.slice(0, first));
    add(
      childParts(children.slice(first, last + 1), new Names()),
      { start: children[first].start, end: children[last].end },
      'children',
    );
    look(children.slice(last + 1));
  }

  function walk(node: Node): void {
    if (Array.isArray(node)) for (const each of node) walk(each);
    if (typeof node?.type !== 'string' || (node.type.startsWith('TS') && !WRAPPERS.has(node.type))) return;
    if (node.type === 'JSXElement' || node.type === 'JSXFragment') element(node);
    else if (node.type === 'JSXAttribute' && ATTRIBUTES.has(node.name.name)) {
      const { value } = node;
      if (value?.type === 'JSXExpressionContainer') text(value.expression);
      else if (value !== null) text(value, 'attribute');
    } else if (node.type === 'Property' && PROPERTIES.has(node.key.name) && !node.computed) text(node.value);
    else if (node.type === 'AssignmentPattern' && ATTRIBUTES.has(node.left.name)) text(node.right);
    else if (isPlural(node)) add(valueParts(node, new Names()), node, 'expression');
    else if (/^(Call|New)Expression$/.test(node.type) && FUNCTIONS.has(node.callee.name)) {
      const [said, context] = node.arguments;
      if (said !== undefined) text(said, 'expression', isString(context ?? {}) ? ` [${context.value}]` : '');
      if (context !== undefined) walk(context);
    } else for (const child of Object.values(node)) if (typeof child === 'object') walk(child);
  }

  walk(program.body);
  return messages;
}
