/** The policy of a page that can only send its form. */
export const SIGN_IN_POLICY = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** @param message about the last attempt, in HTML */
export const signInPage = (message = ''): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Codec server</title>
<h1>Codec server</h1>
<p role="status">${message}</p>
<p>Anyone who signs in can have Temporal’s UI decrypt what it shows. In the UI, enter the address of this page as the codec server, and turn on
“Include cross-origin credentials”.</p>
<form method="post" action="/sign-in">
<p><label>CODEC_SERVER_TOKEN <input type="password" name="token" autocomplete="current-password" required></label>
<button>Sign in</button></p>
</form>
</html>
`;
