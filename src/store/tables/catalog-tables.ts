/** Prices and models. */
import { GatewayError } from '../../canonical/errors.ts';
import type { FallbackRow, ModelRow, PriceGroupRow, PriceRow, ScheduledPrice, TargetRow } from '../catalog-rows.ts';
import { type Database, insertInto, putInto, type Statement, type Steps, sql, where } from '../database.ts';
import type { Store } from '../store.ts';
import { NOTICE, putNamed, recorded, removeRow } from './audit-table.ts';

interface PriceColumns {
  id: string;
  model: string;
  components: string;
  created_at: bigint;
  effective_at: bigint | null;
  source: string | null;
}

interface PriceGroupColumns {
  name: string;
  factor: string;
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
  scheduled: string | null;
  routing: string;
}

/** Members of a model that are kept together as JSON. */
type RoutingColumns = Pick<ModelRow, 'strategy' | 'retries' | 'affinity' | 'firstTokenMs' | 'hedge' | 'capture'>;

export function priceTable(db: Database): Pick<Store, 'savePrice' | 'price' | 'prices'> {
  async function price(id: string): Promise<PriceRow | undefined> {
    const [base = '', factor] = id.split('*');
    const [row] = await db.all<PriceColumns>(sql`SELECT * FROM prices WHERE id = ${base}`);
    if (!row || factor === undefined) return row && toPrice(row);
    const components = JSON.stringify({ ...(JSON.parse(row.components) as object), factor });
    return { ...toPrice(row), id, components };
  }

  return {
    price,
    savePrice: (version) =>
      db.steps(function* () {
        yield* savedPrice(version);
        yield NOTICE;
      }),
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

/** The step that saves a version. It never changes: saving the same again is allowed, other content under its id is refused. */
function* savedPrice({ id, model, components, createdAt, effectiveAt, source }: PriceRow): Steps<void> {
  const columns = { id, model, components, created_at: createdAt, effective_at: effectiveAt, source };
  yield sql`${insertInto('prices', columns)} ON CONFLICT (id) DO NOTHING`;
  const [saved] = (yield sql`SELECT * FROM prices WHERE id = ${id}`) as PriceColumns[];
  if (saved?.components !== components || saved.model !== model) {
    throw new GatewayError('conflict', `Price version "${id}" exists and cannot be changed: save a new version.`);
  }
}

function putModel(model: ModelRow): Statement {
  const { strategy, retries, affinity, firstTokenMs, hedge, capture } = model;
  return putInto('models', 'name', {
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
    scheduled: model.scheduled && JSON.stringify(model.scheduled),
    routing: JSON.stringify({ strategy, retries, affinity, firstTokenMs, hedge, capture }),
  });
}

export function modelTable(db: Database): Pick<Store, 'saveModel' | 'changeModels' | 'models' | 'removeModel'> {
  return {
    saveModel: (model, audit) => db.steps(putNamed('models', model, putModel(model), toModel, audit)),
    changeModels(changes) {
      // In one order, so that two transactions never wait for each other.
      const inOrder = [...changes].sort((a, b) => (a.name < b.name ? -1 : 1));
      return db.steps(function* (): Steps<void> {
        for (const { name, change, price, audit } of inOrder) {
          // Locks the row: what others save meanwhile waits.
          const [old] = (yield sql`UPDATE models SET name = name WHERE name = ${name} RETURNING *`) as ModelColumns[];
          const before = old && toModel(old);
          const after = change(before);
          if (price) yield* savedPrice(price);
          yield putModel(after);
          yield* recorded(audit, before, after);
        }
        // Last, as every transaction locks this row: with it, one would wait here for a model that waits for this.
        yield NOTICE;
      });
    },
    models: async () => (await db.all<ModelColumns>(sql`SELECT * FROM models ORDER BY name`)).map(toModel),
    removeModel: (name, audit) => db.steps(removeRow('models', 'name', name, toModel, audit)),
  };
}

/** Changes of a factor must be known to every process: callers are cached with it. */
export function priceGroupTable(db: Database): Pick<Store, 'savePriceGroup' | 'priceGroups' | 'removePriceGroup'> {
  return {
    savePriceGroup(group, audit) {
      const columns = { name: group.name, factor: group.factor, created_at: group.createdAt };
      return db.steps(putNamed('price_groups', group, putInto('price_groups', 'name', columns), toGroup, audit));
    },
    priceGroups: async () =>
      (await db.all<PriceGroupColumns>(sql`SELECT * FROM price_groups ORDER BY name`)).map(toGroup),
    removePriceGroup: (name, audit) =>
      db.steps(function* (): Steps<boolean> {
        // Locked before the accounts are read: an account may be entering the group.
        yield sql`UPDATE price_groups SET name = name WHERE name = ${name}`;
        const users = sql`SELECT name FROM accounts WHERE price_group = ${name} LIMIT 1`;
        const [user] = (yield users) as { name: string }[];
        if (user) {
          const sentence = `The account "${user.name}" is in the price group "${name}": change the account first.`;
          throw new GatewayError('conflict', sentence, { param: 'name' });
        }
        return yield* removeRow('price_groups', 'name', name, toGroup, audit)();
      }),
  };
}

function toGroup({ name, factor, created_at }: PriceGroupColumns): PriceGroupRow {
  return { name, factor, createdAt: Number(created_at) };
}

function toPrice({ id, model, components, created_at, effective_at, source }: PriceColumns): PriceRow {
  return {
    id,
    model,
    components,
    createdAt: Number(created_at),
    ...(effective_at !== null && { effectiveAt: Number(effective_at) }),
    ...(source !== null && { source }),
  };
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
    ...(row.scheduled !== null && { scheduled: JSON.parse(row.scheduled) as ScheduledPrice[] }),
    ...(JSON.parse(row.routing) as RoutingColumns),
  };
}
