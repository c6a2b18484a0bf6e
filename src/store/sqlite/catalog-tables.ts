/** Prices, providers and models in SQLite. */
import type { Database } from 'bun:sqlite';
import { GatewayError } from '../../canonical/errors.ts';
import type { ModelRow, Page, PriceRow, ProviderRow, TargetRow } from '../store.ts';

const PRICE_COLUMNS = 'id, model, components, created_at AS createdAt';

export function readPrice(db: Database, id: string): PriceRow | undefined {
  return db.query<PriceRow, [string]>(`SELECT ${PRICE_COLUMNS} FROM prices WHERE id = ?`).get(id) ?? undefined;
}

export function readPrices(db: Database, page: Page & { model?: string }): PriceRow[] {
  return db
    .query<PriceRow, [string | null, string | null, number]>(
      `SELECT ${PRICE_COLUMNS} FROM prices
       WHERE (?1 IS NULL OR model = ?1) AND (?2 IS NULL OR seq > (SELECT seq FROM prices WHERE id = ?2))
       ORDER BY seq LIMIT ?3`,
    )
    .all(page.model ?? null, page.after ?? null, page.limit);
}

/** A version once saved never changes: the same again is welcome, another under its id is refused. */
export function insertPrice(db: Database, price: PriceRow): void {
  const saved = readPrice(db, price.id);
  if (saved && (saved.components !== price.components || saved.model !== price.model)) {
    throw new GatewayError('conflict', `Price version "${price.id}" exists and cannot be changed: save a new version.`);
  }
  if (saved) return;
  db.query('INSERT INTO prices (id, model, components, created_at) VALUES (?, ?, ?, ?)').run(
    price.id,
    price.model,
    price.components,
    price.createdAt,
  );
}

export function saveProviderRow(db: Database, provider: ProviderRow): void {
  db.query('INSERT OR REPLACE INTO providers (name, type, base_url, credentials, settings) VALUES (?, ?, ?, ?, ?)').run(
    provider.name,
    provider.type,
    provider.baseUrl ?? null,
    JSON.stringify(provider.credentials),
    JSON.stringify(provider.settings),
  );
}

interface ProviderColumns {
  name: string;
  type: string;
  base_url: string | null;
  credentials: string;
  settings: string;
}

export function readProviders(db: Database): ProviderRow[] {
  return db
    .query<ProviderColumns, []>('SELECT * FROM providers ORDER BY name')
    .all()
    .map((row) => ({
      name: row.name,
      type: row.type,
      ...(row.base_url !== null && { baseUrl: row.base_url }),
      credentials: JSON.parse(row.credentials) as string[],
      settings: JSON.parse(row.settings) as ProviderRow['settings'],
    }));
}

export function deleteProvider(db: Database, name: string): boolean {
  return db.query('DELETE FROM providers WHERE name = ?').run(name).changes > 0;
}

export function saveModelRow(db: Database, model: ModelRow): void {
  db.query(
    `INSERT OR REPLACE INTO models (name, kind, price_id, max_output_tokens, context_tokens, display_name, owned_by,
       on_disconnect, created_at, targets)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    model.name,
    model.kind,
    model.priceId,
    model.maxOutputTokens ?? null,
    model.contextTokens ?? null,
    model.displayName ?? null,
    model.ownedBy,
    model.onDisconnect,
    model.createdAt,
    JSON.stringify(model.targets),
  );
}

interface ModelColumns {
  name: string;
  kind: string;
  price_id: string;
  max_output_tokens: number | null;
  context_tokens: number | null;
  display_name: string | null;
  owned_by: string;
  on_disconnect: ModelRow['onDisconnect'];
  created_at: number;
  targets: string;
}

export function readModels(db: Database): ModelRow[] {
  return db
    .query<ModelColumns, []>('SELECT * FROM models ORDER BY name')
    .all()
    .map((row) => ({
      name: row.name,
      kind: row.kind,
      priceId: row.price_id,
      ...(row.max_output_tokens !== null && { maxOutputTokens: row.max_output_tokens }),
      ...(row.context_tokens !== null && { contextTokens: row.context_tokens }),
      ...(row.display_name !== null && { displayName: row.display_name }),
      ownedBy: row.owned_by,
      onDisconnect: row.on_disconnect,
      createdAt: row.created_at,
      targets: JSON.parse(row.targets) as TargetRow[],
    }));
}

export function deleteModel(db: Database, name: string): boolean {
  return db.query('DELETE FROM models WHERE name = ?').run(name).changes > 0;
}
