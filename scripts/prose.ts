import { createRequire } from 'node:module';
import { TextlintKernel, type TextlintKernelOptions } from '@textlint/kernel';

// The words that this project does not use (docs/decisions/0052-a-linter-for-sentences.md). Each line is a habit of literally
// translated sentences, with what to write instead. A pattern must not match good prose: the test checks that, and before you
// add one, try it on the documentation of a few well-known projects.

const HABITS: Record<string, RegExp[]> = {
  'Name the person or program.': [/\bwhoever\b/i, /\b(?:nobody|somebody|everybody)\b/i, /\bthose who\b/i],
  'Name the thing: which noun is it?': [
    /\b(?:of|by|for|than|like|from) what (?:is|was|has|had|it|they|there)\b/i,
    /(?<!\b(?:the|first|last|next) )\bone (?:that|which|who)\b/i,
    /\bonly those\b/i,
    /(?:^|[.;] )Those (?:of|that|who|with)\b/,
    /\bthat of (?:the|a|an|its|their|this|which)\b/i,
    /(?<!\b(?:if|as|than|where|what|who|how|that) )\b(?:it|they|that|this|which) (?:is|was|has|are|had|were)(?=[.;](?:\s|$))/i,
    /\b(?:what is left|came of|becomes? of)\b/,
  ],
  'Start with the subject: no "Of" or "By" at the front.': [
    /(?:^|[.;] )Of (?!course\b|(?:the |these )?\d)/,
    /\bBy (?:which|what|whom)\b/,
  ],
  'Write "null if", "none if".': [/\bnull (?:where|when)\b/i, /\bNull: (?!no limit)/, /[.;] none: /i],
  'Write "if" or "when".': [
    /(?:^|[.;] )Where (?:an?|the|it|no|there|that|this|one|they|\w+ (?:is|are|has|have)) (?![^.?]*\?)/,
    /\bwhere (?:none|nothing|no \w+ (?:is|are|was)|that is|that was|there (?:is|are) (?:none|no|any))\b/i,
    /\bwhere it (?:has|takes|does|may)\b/i,
  ],
  'Write "is not a …", "does not …".': [
    /(?<!\b(?:there|it|this|what) )\b(?:is|are|was|were) no (?=[a-z])(?!longer|more|way|need)/i,
    /\b(?:takes?|gives?|knows?) (?:no|none|nothing)\b(?! more than)/i,
    /\b(?:id|name|key) of no\b/i,
  ],
  'Write "only", "except" or "unless".': [
    /\balone(?=[.,;:)]|$)/i,
    /\bbut for\b(?! (?:an?|un\w+)\b)/i,
    /, save (?:for|with|by|where)\b/i,
  ],
  'Write "notify", "send", "report" or "submit".': [
    /\btold\b/i,
    /\b(?:is|are|be|was|were) said\b/i,
    /\b(?:says?|said) (?:it|no)\b/i,
    /\btells? (?:of|apart)\b/i,
  ],
  'Write "check", "search" or "measure".': [
    /\b(?:every|each) look\b/i,
    /\b(?:is|are|was|were|be|been) looked\b(?! up\b)/i,
    /\bcannot look\b/i,
  ],
  'Write "request", "call" or "poll".': [
    /\b(?:is|was|are|were|be|been|being) asked\b(?! to\b)/i,
    /\basked (?:for|of)\b/i,
    /\bmay not ask\b/i,
  ],
  'Write "pass", "set", "omit" or "default".': [
    /: (?:give (?:an?|one|it|each|every)|leave (?:it|out|one))\b/i,
    /\b(?:unless|where) given\b/i,
  ],
  'Write "replaces", "instead of", "queue" or "position".': [
    /\b(?:takes?|took|taking) the place of\b/i,
    /\bin (?:the )?place of\b/i,
    /\bin (?:its|their) place\b/i,
    /\bits place\b/i,
    /\bturn of\b/i,
    /\bat fault\b/i,
  ],
  'Write "continue", "start" or "restart".': [
    /\b(?:go|goes|going|went|gone) on\b(?! (?:to|for|a|an|the|hold|strike|top|and on)\b)/i,
    /\b(?:begun|began)\b/i,
    /\bbegins? (?:anew|again|none|no)\b/i,
  ],
  'Write "can", "must" or "repeatable".': [/\bmay (?:be repeated|do|say|cost|ask)\b/],
  'Say what stays unchanged.': [
    /(?<!\b(?:leaves?|keeps?|left|kept)\b[^.;:]*)\bas (?:it|they) (?:is|are|was|were)(?=[.,;:)]|$)/i,
    /\bas ever\b/i,
    /\bstays? (?:as it|as they|what|where)\b/i,
    /\bfor good\b(?! (?:measure|reason))/i,
  ],
  'Write "your", "its own …", "automatically".': [
    /\bof (?:yours|hers|ours|mine)\b/i,
    /\bof (?:its|his|their|your) own(?=[.,;:)]|$)/i,
    /\bby (?:itself|themselves|himself)\b/i,
  ],
  'Write "again", "also", "immediately", "otherwise" or "no longer".': [
    /\banew\b/i,
    /\bmeanwhile\b/i,
    /\bbesides\b/i,
    /(?<!\b(?:all|several|many|few|more|much|them|\w+s|\d+) )\bat once\b/i,
    /(?:[,;] |\bor )else\b(?=[ ,.:])/i,
    /\ball else\b/i,
    /\bany more(?=[.,;:)]|$)/i,
    /\bof late\b/i,
  ],
  'Write "cannot", "unknown", "estimate".': [/\bcan not\b/i, /\b(?:is|are|was|were) not known\b/i, /\breckon/i],
};

// These have no types, or types without a default export.
const require = createRequire(import.meta.url);
const [markdown, plain, pattern, comments] = [
  '@textlint/textlint-plugin-markdown',
  '@textlint/textlint-plugin-text',
  '@textlint-rule/textlint-rule-pattern',
  'textlint-filter-rule-comments',
].map((name) => {
  const module = require(name);
  return module.default ?? module;
});

/** Headings and links can open like questions. */
const OPENINGS: Record<string, RegExp[]> = {
  'Start with a noun, not with "What", "Who", "How many".': [
    /(?:^|[.;] )(?:What|Who|Whom|Whose) (?!to\b)[^.?]*(?:\.(?: |$)|:$)/,
    /(?:^|[.;] )How (?:many|much|long|often|far) [^.?]*(?:\.(?: |$)|:$)/,
  ],
};

const ruleOf = (ruleId: string, habits: typeof HABITS, allowNodeTypes: string[]) => ({
  ruleId,
  rule: pattern,
  options: {
    patterns: Object.entries(habits).flatMap(([message, expressions]) =>
      expressions.map(({ source, flags }) => ({
        message,
        // A line can break anywhere.
        pattern: `/${source.replaceAll(' ', String.raw`\s`)}/${flags}`,
        allowNodeTypes,
      })),
    ),
  },
});
const habits = ruleOf('habits', HABITS, []);
const openings = ruleOf('openings', OPENINGS, ['Header', 'Link', 'Strong', 'Emphasis']);

const page: TextlintKernelOptions = {
  ext: '.md',
  plugins: [{ pluginId: 'markdown', plugin: markdown }],
  rules: [habits, openings],
  filterRules: [{ ruleId: 'comments', rule: comments }],
};
/** Each line is a text. */
const texts: TextlintKernelOptions = {
  ext: '.txt',
  plugins: [{ pluginId: 'text', plugin: plain }],
  rules: [habits, openings],
};

export interface Finding {
  line: number;
  text: string;
  advice: string;
}

const kernel = new TextlintKernel();

async function lint(source: string, options: TextlintKernelOptions): Promise<Finding[]> {
  const { messages } = await kernel.lintText(source, options);
  return messages.map(({ loc, range, message }) => ({
    line: loc.start.line,
    text: source
      .slice(Math.max(0, range[0] - 30), range[1] + 30)
      .replaceAll('\n', ' ')
      .trim(),
    advice: message,
  }));
}

/** The odd sentences of a page. Put a sentence that must stay between the comments `textlint-disable` and `textlint-enable`. */
export const oddOfPage = (source: string) => lint(source, page);

/** Code and placeholders do not count. */
const toLines = (each: string[]) =>
  each.map((text) => text.replaceAll(/`[^`]*`|\$?\{[^{}]*\}/g, '…').replaceAll(/\s+/g, ' ')).join('\n');

/** The odd sentences of some texts; `line` is the number of the text, from 1. */
export const oddOfTexts = (each: string[]) => lint(toLines(each), texts);

/** The same for comments, which can open like questions: "How long a call may take". */
export const oddOfComments = (each: string[]) => lint(toLines(each), { ...texts, rules: [habits] });
