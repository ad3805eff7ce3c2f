/** Browsers refuse to send a form with an invalid field, but can't show why while the field is folded away: unfolds it. */
export function openInvalid(): void {
  document.addEventListener(
    'invalid',
    ({ target }) => {
      if (!(target instanceof Element)) return;
      for (let at = target.closest('details'); at; at = at.parentElement?.closest('details') ?? null) at.open = true;
    },
    true,
  );
}
