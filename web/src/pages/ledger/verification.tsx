/** Verifies the ledger, and shows and enters corrections. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { count } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Note, Panel } from '../../parts/basic.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { words } from './words.ts';

/** `ok` is absent while the verification still runs (202). */
interface Report {
  ok?: boolean;
  accounts: number;
  entries: number;
  holds: number;
  faults: string[];
  /** What is no fault. Absent while the verification still runs. */
  notes?: string[];
}

interface Repair {
  entered?: boolean;
  corrections?: string[];
  left?: string[];
}

export function Verification() {
  const t = useWords(words);
  const may = useMay();
  const client = useQueryClient();
  const saving = useSaving();
  const [full, setFull] = useState(false);
  const [report, setReport] = useState<Report>();
  const [repair, setRepair] = useState<Repair>();
  const [asking, setAsking] = useState(false);
  const verify = async () => setReport(await ask<Report>(`/admin/v1/ledger/verify?wait=10${full ? '&full=true' : ''}`));
  const preview = async () =>
    setRepair(await ask<Repair>('/admin/v1/ledger/repair?wait=10', { method: 'POST', body: {} }));
  const enter = async () => {
    setRepair(await ask<Repair>('/admin/v1/ledger/repair?wait=10', { method: 'POST', body: { enter: true } }));
    await refresh(client, 'entries', 'accounts');
  };
  return (
    <Panel title={t('verification')} id="l-verification">
      <div className="in form">
        <div className="row">
          <button type="button" className="btn go" disabled={saving.busy} onClick={() => void saving.run(verify)}>
            {t('verify')}
          </button>
          <label>
            <input type="checkbox" checked={full} onChange={(event) => setFull(event.target.checked)} /> {t('full')}
          </label>
          {may('money:write') && (
            <button type="button" className="btn" disabled={saving.busy} onClick={() => void saving.run(preview)}>
              {t('preview')}
            </button>
          )}
        </div>
        <FormError error={saving.error} />
        {report && <Outcome report={report} />}
        {repair && <Corrections repair={repair} onEnter={() => setAsking(true)} />}
      </div>
      {asking && (
        <Confirm
          title={t('enter')}
          effect={t('enterText')}
          action={t('enter')}
          name={t('confirmName')}
          onConfirm={enter}
          onClose={() => setAsking(false)}
        />
      )}
    </Panel>
  );
}

export function Outcome({ report }: { report: Report }) {
  const t = useWords(words);
  if (report.ok === undefined) return <Note>{t('running')}</Note>;
  const { ok, entries, accounts, holds, faults, notes = [] } = report;
  return (
    <>
      {ok ? (
        <Note s="ok">{t('ok', { entries: count(entries), accounts: count(accounts), holds: count(holds) })}</Note>
      ) : (
        <Note s="bad">
          <strong>{t('faults', { n: faults.length })}</strong>
          <Lines lines={faults} />
        </Note>
      )}
      {notes.length > 0 && (
        <Note>
          <strong>{t('notes')}</strong>
          <Lines lines={notes} />
        </Note>
      )}
    </>
  );
}

function Corrections({ repair, onEnter }: { repair: Repair; onEnter: () => void }) {
  const t = useWords(words);
  if (!repair.corrections) return <Note>{t('running')}</Note>;
  if (repair.entered) return <Note s="ok">{t('entered')}</Note>;
  if (repair.corrections.length === 0) return <Note s="ok">{t('none')}</Note>;
  return (
    <>
      <Note s="warn">
        <Lines lines={repair.corrections} />
      </Note>
      <div className="row">
        <button type="button" className="btn danger" onClick={onEnter}>
          {t('enter')}
        </button>
      </div>
    </>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <ul>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
