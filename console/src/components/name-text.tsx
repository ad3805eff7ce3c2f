/** Characters at the end that are always visible. */
const END = 10;
/** Shorter names fit in every table. */
const SHORT = 12;

/** A name. If there is no room for all of it in a table, its middle is cut: its end and its version stay. */
export function NameText({ name, version }: { name: string; version?: number | string | null | undefined }) {
  const tail = version == null ? '' : `@${version}`;
  if (name.length + tail.length <= SHORT) return name + tail;
  const at = Math.max(name.length - END, 0);
  return (
    // Its two parts are boxes in a table, which assistive technology would read as two words.
    <span className="name-text" translate="no" role="img" aria-label={name + tail} title={name + tail}>
      <span>{name.slice(0, at)}</span>
      <span>{name.slice(at) + tail}</span>
    </span>
  );
}
