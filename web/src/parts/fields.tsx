/** Fields for one purpose: a one-time code, the choice of an account, the search of a page's head. */
import type { Named } from '../api/session.ts';
import { Field, Select } from './form.tsx';

/** The code of an authenticator application, or a recovery code. */
export function CodeField(field: Parameters<typeof Field>[0]) {
  return <Field inputMode="numeric" autoComplete="one-time-code" required {...field} />;
}

/** A choice of things that are known by their names: accounts. */
export function NamedSelect({ of, ...select }: Parameters<typeof Select>[0] & { of: readonly Named[] }) {
  return (
    <Select {...select}>
      {of.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}

/** A field without a visible label, such as the search of a page's head. */
export function SearchField({
  label,
  value,
  onText,
}: {
  label: string;
  value: string;
  onText: (text: string) => void;
}) {
  return (
    <input
      className="in1"
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={(event) => onText(event.target.value)}
    />
  );
}
