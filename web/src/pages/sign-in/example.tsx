/** The drawing beside the sign-in form: a call on its way to one of several targets. */
import { useWords } from '../../i18n/words.ts';
import { Status } from '../../parts/basic.tsx';
import { words } from './words.ts';

/** Where the lines of the drawing end: nine targets, one of which takes the call. */
const ENDS = [90, 180, 270, 360, 450, 540, 630, 720, 810];
const TAKEN = 360;
const LINES = [
  ['cached', '24,576', '$0.0024576'],
  ['input', '1,842', '$0.0036840'],
  ['write', '2,048', '$0.0051200'],
  ['output', '1,126', '$0.0112600'],
] as const;

export function Example() {
  const t = useWords(words);
  return (
    <section className="show" aria-label={t('example')}>
      <svg
        viewBox="0 0 1060 900"
        preserveAspectRatio="xMidYMid slice"
        aria-hidden="true"
        fill="none"
        stroke="var(--edge)"
        strokeWidth="1.25"
      >
        {ENDS.map((y) => (
          <path key={y} d={`M-40 450C260 450 320 ${y} 640 ${y}H1100`} />
        ))}
        <path d={`M-40 450C260 450 320 ${TAKEN} 640 ${TAKEN}H1100`} stroke="var(--accent)" strokeWidth="2" />
      </svg>
      <div className="slip">
        <div className="hd">
          <h2>claude-sonnet-5-5</h2>
          <Status s="ok">{t('ok')}</Status>
        </div>
        <div style={{ font: 'var(--t-28)', letterSpacing: 'var(--tight)' }}>$0.0225216</div>
        <table className="mini">
          <tbody>
            {LINES.map(([word, tokens, cost]) => (
              <tr key={word}>
                <td>{t(word)}</td>
                <td className="num dim">{tokens}</td>
                <td className="num">{cost}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p className="dim">{t('slogan')}</p>
      </div>
    </section>
  );
}
