/** Prices and models. */
import { GatewayError } from '../../canonical/errors.ts';
import { type Database, insertInto, putInto, sql, where } from '../database.ts';
import type { FallbackRow, ModelRow, PriceRow, TargetRow } from '../rows.ts';
import type { Store } from '../store.ts';
import { NOTICE, putNamed, removeRow } from './audit-table.ts';

interface PriceColumns {
  id: string;
  model: string;
  components: string;
  created_at: bigint;
}

interface ModelColumns {
  name: string;
  kind: string;
  price_id: string;
  max_output_tokens: bigint | null;
  context_tokens: bigint | null;
  max_images: bigint | null;
  display_name: string | null;
  owned_by: string;
  on_disconnect: ModelRow['onDisconnect'];
  created_at: bigint;
  targets: string;
  aliases: string | null;
  fallbacks: string | null;
  continuation: 'buffer' | 'prefill' | null;
  routing: string;
}

/** Members of a model that are kept together as JSON. */
type RoutingColumns = Pick<ModelRow, 'strategy' | 'retries' | 'affinity' | 'firstTokenMs' | 'hedge'>;

export function priceTable(db: Database): Pick<Store, 'savePrice' | 'price' | 'prices'> {
  async function price(id: string): Promise<PriceRow | undefined> {
    const [row] = await db.all<PriceColumns>(sql`SELECT * FROM prices WHERE id = ${id}`);
    return row && toPrice(row);
  }

  return {
    price,
    /** A saved version never changes: saving the same again is allowed, other content under its id is refused. */
    async savePrice({ id, model, components, createdAt }) {
      const columns = { id, model, components, created_at: createdAt };
      await db.steps(function* () {
        yield sql`${insertInto('prices', columns)} ON CONFLICT (id) DO NOTHING`;
        const [saved] = (yield sql`SELECT * FROM prices WHERE id = ${id}`) as PriceColumns[];
        if (saved?.components !== components || saved.model !== model) {
          throw new GatewayError('conflict', `Price version "${id}" exists and cannot be changed: save a new version.`);
        }
        yield NOTICE;
      });
    },
    async prices({ limit, model, after }) {
      const conditions = [
        model === undefined ? undefined : sql`model = ${model}`,
        after === undefined ? undefined : sql`seq > (SELECT seq FROM prices WHERE id = ${after})`,
      ];
      const rows = await db.all<PriceColumns>(
        sql`SELECT * FROM prices ${where(conditions)} ORDER BY seq LIMIT ${limit}`,
      );
      return rows.map(toPrice);
    },
  };
}

export function modelTable(db: Database): Pick<Store, 'saveModel' | 'models' | 'removeModel'> {
  return {
    saveModel(model, audit) {
      const { strategy, retries, affinity, firstTokenMs, hedge } = model;
      const columns = {
        name: model.name,
        kind: model.kind,
        price_id: model.priceId,
        max_output_tokens: model.maxOutputTokens,
        context_tokens: model.contextTokens,
        max_images: model.maxImages,
        display_name: model.displayName,
        owned_by: model.ownedBy,
        on_disconnect: model.onDisconnect,
        created_at: model.createdAt,
        targets: JSON.stringify(model.targets),
        aliases: model.aliases && JSON.stringify(model.aliases),
        fallbacks: model.fallbacks && JSON.stringify(model.fallbacks),
        continuation: model.continuation,
        routing: JSON.stringify({ strategy, retries, affinity, firstTokenMs, hedge }),
      };
      return db.steps(putNamed('models', model, putInto('models', 'name', columns), toModel, audit));
    },
    models: async () => (await db.all<ModelColumns>(sql`SELECT * FROM models ORDER BY name`)).map(toModel),
    removeModel: (name, audit) => db.steps(removeRow('models', 'name', name, toModel, audit)),
  };
}

function toPrice({ id, model, components, created_at }: PriceColumns): PriceRow {
  return { id, model, components, createdAt: Number(created_at) };
}

function toModel(row: ModelColumns): ModelRow {
  return {
    name: row.name,
    kind: row.kind,
    priceId: row.price_id,
    ...(row.max_output_tokens !== null && { maxOutputTokens: Number(row.max_output_tokens) }),
    ...(row.context_tokens !== null && { contextTokens: Number(row.context_tokens) }),
    ...(row.max_images !== null && { maxImages: Number(row.max_images) }),
    ...(row.display_name !== null && { displayName: row.display_name }),
    ownedBy: row.owned_by,
    onDisconnect: row.on_disconnect,
    createdAt: Number(row.created_at),
    targets: JSON.parse(row.targets) as TargetRow[],
    ...(row.aliases !== null && { aliases: JSON.parse(row.aliases) as string[] }),
    ...(row.fallbacks !== null && { fallbacks: JSON.parse(row.fallbacks) as FallbackRow[] }),
    ...(row.continuation !== null && { continuation: row.continuation }),
    ...(JSON.parse(row.routing) as RoutingColumns),
  };
}
