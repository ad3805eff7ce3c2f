/** The nonce of this page's Content-Security-Policy, for styles. The browser hides the attribute, so the property is read. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
