import { type ComponentProps, type ReactNode, Suspense, useState } from 'react';

/** A button that does not submit a form. */
export function Button({
  look = '',
  ...rest
}: Omit<ComponentProps<'button'>, 'type' | 'className'> & {
  /** Such as `primary`, `danger small`. */
  look?: string;
}) {
  return <button type="button" className={`button ${look}`.trim()} {...rest} />;
}

/** A button that opens a dialog. */
export function DialogButton({
  label,
  look,
  dialog,
}: {
  label: ReactNode;
  look?: string;
  /** Receives a function that closes it. The dialog can be a lazy component. */
  dialog: (close: () => void) => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...(look !== undefined && { look })} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && <Suspense>{dialog(() => setOpen(false))}</Suspense>}
    </>
  );
}
