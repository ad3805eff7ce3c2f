import type { ComponentProps } from 'react';
import Markdown from 'react-markdown';
import rehypeHighlight from 'rehype-highlight';
import remarkGfm from 'remark-gfm';

/** Models write arbitrary addresses: nothing is loaded automatically, and links show their target. */
const components: ComponentProps<typeof Markdown>['components'] = {
  a: ({ href, children }) =>
    href === undefined || href === '' ? (
      <span>{children}</span>
    ) : (
      <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ),
  img: ({ src, alt }) =>
    typeof src === 'string' && src.startsWith('data:image/') ? (
      <img src={src} alt={alt ?? ''} />
    ) : (
      <span className="muted">
        [image{alt ? `: ${alt}` : ''}, {typeof src === 'string' && src !== '' ? src : 'without an address'}]
      </span>
    ),
  // Headings in a text are not headings of the page.
  h1: ({ children }) => <p className="markdown-h1">{children}</p>,
  h2: ({ children }) => <p className="markdown-h2">{children}</p>,
  h3: ({ children }) => <p className="markdown-h3">{children}</p>,
  h4: ({ children }) => <p className="markdown-h3">{children}</p>,
  h5: ({ children }) => <p className="markdown-h3">{children}</p>,
  h6: ({ children }) => <p className="markdown-h3">{children}</p>,
};

/** Drops addresses other than http, https, mailto and inline images, such as `javascript:`. */
function safeUrl(url: string): string {
  return /^(https?:|mailto:|data:image\/(png|jpeg|gif|webp);base64,)/i.test(url) ? url : '';
}

/** Markdown with GitHub's tables and lists, and highlighted code. HTML is shown as text. */
export function MarkdownView({ text }: { text: string }) {
  return (
    <div className="markdown">
      <Markdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[[rehypeHighlight, { detect: false }]]}
        components={components}
        urlTransform={safeUrl}
      >
        {text}
      </Markdown>
    </div>
  );
}
