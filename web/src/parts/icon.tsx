/** The icons of the design, 16 by 16: each is one path. */
const PATHS = {
  overview: 'M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-6M13.5 13.5v-11',
  calls: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  playground: 'M2.5 3.5h11v7.5h-6l-3 2.5V11h-2z',
  providers: 'M6 2v3M10 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14',
  models: 'M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.5 5 8 8.2 13.5 5M8 8.2v6',
  limits: 'M2.5 11.5a5.5 5.5 0 1 1 11 0M8 11.5l2.7-3.4',
  accounts: 'M2.5 13.5v-9l5-2v11M7.5 6.5l6 2v5M1.5 13.5h13',
  keys: 'm7.2 8.8 6-6M11 5l2 2M2.5 10.8a2.7 2.7 0 1 0 5.4 0a2.7 2.7 0 1 0-5.4 0',
  codes: 'M2.5 4.5h11v2a1.5 1.5 0 0 0 0 3v2h-11v-2a1.5 1.5 0 0 0 0-3zM9.5 4.5v7',
  ledger: 'M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2',
  tasks: 'm10.5 7 3.5-2v6l-3.5-2M3 4h6.5a1 1 0 0 1 1 1v6a1 1 0 0 1 -1 1h-6.5a1 1 0 0 1 -1-1v-6a1 1 0 0 1 1-1z',
  alerts: 'M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM6.7 13.8h2.6',
  audit: 'M8 5v3l2 1.5M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0',
  people:
    'M1.8 13c.3-2.6 1.9-4 4.2-4s3.9 1.4 4.2 4M10.5 3.6a2.3 2.3 0 0 1 0 3.9M12 9.6c1.3.6 2 1.8 2.2 3.4M3.7 5.5a2.3 2.3 0 1 0 4.6 0a2.3 2.3 0 1 0-4.6 0',
  settings:
    'M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M8.5 5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0M4.5 11a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  search: 'm10.3 10.3 3.2 3.2M2.7 7a4.3 4.3 0 1 0 8.6 0a4.3 4.3 0 1 0-8.6 0',
  plus: 'M8 3.5v9M3.5 8h9',
  close: 'm4 4 8 8M12 4l-8 8',
  up: 'm4.5 9.5 3.5-3.5 3.5 3.5',
  down: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  right: 'm6.5 4.5 3.5 3.5-3.5 3.5',
  arrow: 'M3 8h9M8.5 4.5 12 8l-3.5 3.5',
  check: 'm3.5 8.5 3 3 6-7',
  info: 'M8 7.5v3M8 5.3v.1M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0',
  warn: 'M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return <PathIcon path={PATHS[name]} />;
}

export function PathIcon({ path }: { path: string }) {
  return (
    <svg className="i" viewBox="0 0 16 16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 22 22" aria-hidden="true">
      <rect width="22" height="22" rx="6" fill="var(--ink)" />
      <path
        d="M4.5 11H9c3.5 0 3-5 8.500-5M9 11h8.500M9 11c3.500 0 3 5 8.500 5"
        fill="none"
        stroke="var(--on-ink)"
        strokeWidth="1.7"
        strokeLinecap="round"
      />
    </svg>
  );
}
