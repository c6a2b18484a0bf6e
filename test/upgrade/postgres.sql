SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.accounts (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    balance bigint NOT NULL,
    held bigint NOT NULL,
    last_seq bigint NOT NULL,
    last_hash text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    disabled_at bigint,
    budget_total bigint,
    budget_day bigint,
    budget_month bigint,
    requests_per_minute bigint,
    tokens_per_minute bigint,
    concurrency bigint,
    spent bigint DEFAULT 0 NOT NULL,
    day bigint DEFAULT 0 NOT NULL,
    day_spent bigint DEFAULT 0 NOT NULL,
    month bigint DEFAULT 0 NOT NULL,
    month_spent bigint DEFAULT 0 NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    prior_day bigint DEFAULT 0 NOT NULL,
    prior_day_spent bigint DEFAULT 0 NOT NULL,
    prior_month bigint DEFAULT 0 NOT NULL,
    prior_month_spent bigint DEFAULT 0 NOT NULL,
    late_since bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE public.accounts ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.accounts_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.audits (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    actor text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    before text COLLATE pg_catalog."C",
    after text COLLATE pg_catalog."C"
);
ALTER TABLE public.audits ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audits_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.cached_replies (
    account text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    expires_at bigint NOT NULL,
    bytes bigint NOT NULL,
    body text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.call_sums (
    account text NOT NULL COLLATE pg_catalog."C",
    hour bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    calls bigint NOT NULL,
    cost bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    saved bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.calls (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    target_model text NOT NULL COLLATE pg_catalog."C",
    dialect text NOT NULL COLLATE pg_catalog."C",
    upstream_dialect text NOT NULL COLLATE pg_catalog."C",
    stream bigint NOT NULL,
    status bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    error_code text COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    cost bigint NOT NULL,
    price_id text NOT NULL COLLATE pg_catalog."C",
    usage text COLLATE pg_catalog."C",
    duration_ms bigint NOT NULL,
    first_byte_ms bigint,
    entry_seq bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    provisional bigint DEFAULT 0 NOT NULL,
    completion_seq bigint,
    saved bigint DEFAULT 0 NOT NULL
)
PARTITION BY RANGE (at);
CREATE TABLE public.calls_20261123 (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    target_model text NOT NULL COLLATE pg_catalog."C",
    dialect text NOT NULL COLLATE pg_catalog."C",
    upstream_dialect text NOT NULL COLLATE pg_catalog."C",
    stream bigint NOT NULL,
    status bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    error_code text COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    cost bigint NOT NULL,
    price_id text NOT NULL COLLATE pg_catalog."C",
    usage text COLLATE pg_catalog."C",
    duration_ms bigint NOT NULL,
    first_byte_ms bigint,
    entry_seq bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    provisional bigint DEFAULT 0 NOT NULL,
    completion_seq bigint,
    saved bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.calls_20261124 (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    target_model text NOT NULL COLLATE pg_catalog."C",
    dialect text NOT NULL COLLATE pg_catalog."C",
    upstream_dialect text NOT NULL COLLATE pg_catalog."C",
    stream bigint NOT NULL,
    status bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    error_code text COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    cost bigint NOT NULL,
    price_id text NOT NULL COLLATE pg_catalog."C",
    usage text COLLATE pg_catalog."C",
    duration_ms bigint NOT NULL,
    first_byte_ms bigint,
    entry_seq bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    provisional bigint DEFAULT 0 NOT NULL,
    completion_seq bigint,
    saved bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.calls_20261125 (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    target_model text NOT NULL COLLATE pg_catalog."C",
    dialect text NOT NULL COLLATE pg_catalog."C",
    upstream_dialect text NOT NULL COLLATE pg_catalog."C",
    stream bigint NOT NULL,
    status bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    error_code text COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    cost bigint NOT NULL,
    price_id text NOT NULL COLLATE pg_catalog."C",
    usage text COLLATE pg_catalog."C",
    duration_ms bigint NOT NULL,
    first_byte_ms bigint,
    entry_seq bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    provisional bigint DEFAULT 0 NOT NULL,
    completion_seq bigint,
    saved bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.calls_20261126 (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    target_model text NOT NULL COLLATE pg_catalog."C",
    dialect text NOT NULL COLLATE pg_catalog."C",
    upstream_dialect text NOT NULL COLLATE pg_catalog."C",
    stream bigint NOT NULL,
    status bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    error_code text COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    cost bigint NOT NULL,
    price_id text NOT NULL COLLATE pg_catalog."C",
    usage text COLLATE pg_catalog."C",
    duration_ms bigint NOT NULL,
    first_byte_ms bigint,
    entry_seq bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    provisional bigint DEFAULT 0 NOT NULL,
    completion_seq bigint,
    saved bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.calls_of_other_days (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    target_model text NOT NULL COLLATE pg_catalog."C",
    dialect text NOT NULL COLLATE pg_catalog."C",
    upstream_dialect text NOT NULL COLLATE pg_catalog."C",
    stream bigint NOT NULL,
    status bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    error_code text COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    cost bigint NOT NULL,
    price_id text NOT NULL COLLATE pg_catalog."C",
    usage text COLLATE pg_catalog."C",
    duration_ms bigint NOT NULL,
    first_byte_ms bigint,
    entry_seq bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    provisional bigint DEFAULT 0 NOT NULL,
    completion_seq bigint,
    saved bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.codes (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    last4 text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    note text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint,
    redeemed_at bigint,
    redeemed_by text COLLATE pg_catalog."C",
    idempotency_key text COLLATE pg_catalog."C"
);
ALTER TABLE public.codes ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.codes_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.config_files (
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    seen_at bigint NOT NULL
);
CREATE TABLE public.entries (
    account text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    balance_after bigint NOT NULL,
    counter text NOT NULL COLLATE pg_catalog."C",
    call_id text COLLATE pg_catalog."C",
    note text COLLATE pg_catalog."C",
    idempotency_key text COLLATE pg_catalog."C",
    at bigint NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.generation (
    value bigint NOT NULL
);
CREATE TABLE public.holds (
    call_id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    price_id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    sent_at bigint,
    checkpoint bigint
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');
CREATE TABLE public.kept_from (
    at bigint NOT NULL
);
CREATE TABLE public.keys (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    last4 text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint,
    disabled_at bigint,
    models text COLLATE pg_catalog."C",
    addresses text COLLATE pg_catalog."C",
    scopes text COLLATE pg_catalog."C",
    budget_total bigint,
    budget_day bigint,
    budget_month bigint,
    requests_per_minute bigint,
    tokens_per_minute bigint,
    concurrency bigint,
    prior_hash text COLLATE pg_catalog."C",
    prior_until bigint,
    aliases text,
    caller_routing bigint,
    cache_seconds bigint
);
ALTER TABLE public.keys ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.keys_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ledger_checkpoints (
    signer text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    signature text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.ledger_verifications (
    name text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    started_at bigint NOT NULL,
    lease_until bigint NOT NULL,
    done bigint NOT NULL,
    total bigint NOT NULL
);
CREATE TABLE public.migrations (
    version bigint NOT NULL,
    fingerprint text NOT NULL,
    minimum bigint
);
CREATE TABLE public.models (
    name text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    price_id text NOT NULL COLLATE pg_catalog."C",
    max_output_tokens bigint,
    context_tokens bigint,
    display_name text COLLATE pg_catalog."C",
    owned_by text NOT NULL COLLATE pg_catalog."C",
    on_disconnect text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    targets text NOT NULL COLLATE pg_catalog."C",
    max_images bigint,
    aliases text,
    fallbacks text,
    continuation text,
    routing text DEFAULT '{}'::text NOT NULL
);
CREATE TABLE public.owners (
    owner text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    ended_at bigint
);
CREATE TABLE public.prices (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    components text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
ALTER TABLE public.prices ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.prices_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.probes (
    name text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.proofs (
    account text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint NOT NULL,
    body text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.providers (
    name text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    base_url text COLLATE pg_catalog."C",
    credentials text NOT NULL COLLATE pg_catalog."C",
    settings text NOT NULL COLLATE pg_catalog."C",
    limits text DEFAULT '{}'::text NOT NULL
);
CREATE TABLE public.response_items (
    account text NOT NULL COLLATE pg_catalog."C",
    item text NOT NULL COLLATE pg_catalog."C",
    response text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.responses (
    account text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    previous text COLLATE pg_catalog."C",
    at bigint NOT NULL,
    expires_at bigint NOT NULL,
    kept_until bigint NOT NULL,
    maker text COLLATE pg_catalog."C",
    input text NOT NULL COLLATE pg_catalog."C",
    output text NOT NULL COLLATE pg_catalog."C",
    reply text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.spendings (
    key text NOT NULL COLLATE pg_catalog."C",
    held bigint NOT NULL,
    total bigint NOT NULL,
    day bigint NOT NULL,
    day_spent bigint NOT NULL,
    month bigint NOT NULL,
    month_spent bigint NOT NULL,
    prior_day bigint DEFAULT 0 NOT NULL,
    prior_day_spent bigint DEFAULT 0 NOT NULL,
    prior_month bigint DEFAULT 0 NOT NULL,
    prior_month_spent bigint DEFAULT 0 NOT NULL,
    late_since bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.tasks (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    idempotency_key text COLLATE pg_catalog."C",
    due_at bigint,
    lease text COLLATE pg_catalog."C",
    lease_until bigint,
    body text NOT NULL COLLATE pg_catalog."C",
    request text COLLATE pg_catalog."C"
);
CREATE TABLE public.webhook_secrets (
    account text NOT NULL COLLATE pg_catalog."C",
    secret text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.calls ATTACH PARTITION public.calls_20261123 FOR VALUES FROM ('1795392000000') TO ('1795478400000');
ALTER TABLE ONLY public.calls ATTACH PARTITION public.calls_20261124 FOR VALUES FROM ('1795478400000') TO ('1795564800000');
ALTER TABLE ONLY public.calls ATTACH PARTITION public.calls_20261125 FOR VALUES FROM ('1795564800000') TO ('1795651200000');
ALTER TABLE ONLY public.calls ATTACH PARTITION public.calls_20261126 FOR VALUES FROM ('1795651200000') TO ('1795737600000');
ALTER TABLE ONLY public.calls ATTACH PARTITION public.calls_of_other_days DEFAULT;
INSERT INTO public.accounts OVERRIDING SYSTEM VALUE VALUES (1, 'acct_0yH4qnliBbwWsLftWc0Q19FY', 'default', 10000000000, 0, 1, '76d8f7a595db0f18ada34c3148810a7519084d7fca0cc8b2dc19c560e08800f7', 1795404216114, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0);
INSERT INTO public.accounts OVERRIDING SYSTEM VALUE VALUES (2, 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', 'test-21931-1', 4749908800, 4108000, 5, '1dcbc70109ad6761ac20fe920fc11ea5893935c7a601a9b892ee7a8327c358fb', 1795404217069, NULL, NULL, NULL, 100000000000, 600, NULL, NULL, 91200, 20780, 91200, 682, 91200, 11, 0, 0, 0, 0, 0);
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (1, 'audit_mwspbbci9Y3irWO18lICkSuN', 1795404216114, 'start', 'account.created', 'acct_0yH4qnliBbwWsLftWc0Q19FY', NULL, '{"id":"acct_0yH4qnliBbwWsLftWc0Q19FY","name":"default","balance":"0","held":"0","createdAt":1795404216114}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (2, 'audit_mwspbbciP9WRs6LSzNnkfYBI', 1795404216114, 'start', 'key.created', 'key_ZLxc1uwyogRMZYJ36A2GQM9Q', NULL, '{"id":"key_ZLxc1uwyogRMZYJ36A2GQM9Q","account":"acct_0yH4qnliBbwWsLftWc0Q19FY","kind":"caller","name":"first start","last4":"test","createdAt":1795404216114}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (3, 'audit_mwspbbcidXCmofDRQyntDGhH', 1795404216114, 'start', 'key.created', 'key_1mYnv5isyEL6AD4bUWkVndcc', NULL, '{"id":"key_1mYnv5isyEL6AD4bUWkVndcc","account":"acct_0yH4qnliBbwWsLftWc0Q19FY","kind":"admin","name":"first start","last4":"test","createdAt":1795404216114}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (4, 'audit_mwspbbhrRUBaNO5hTp4WptZU', 1795404216303, 'start', 'provider.created', 'sandbox', NULL, '{"name":"sandbox","type":"sandbox","settings":{},"credentials":[]}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (5, 'audit_mwspbbjv7IJVP0M4AZqxk2TR', 1795404216379, 'start', 'model.created', 'sandbox-chat', NULL, '{"name":"sandbox-chat","kind":"chat","maxOutputTokens":4096,"contextTokens":128000,"ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-chat","priority":0,"weight":1}],"priceId":"price_gTGbH71UMubi8LEplhhod3aF","onDisconnect":"abort","createdAt":1795404216257,"price":{"input":"0.1","cachedInput":"0.05","output":"0.4"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (6, 'audit_mwspbbkn6jvg57YnndPjLBBk', 1795404216407, 'start', 'model.created', 'sandbox-reasoner', NULL, '{"name":"sandbox-reasoner","kind":"chat","maxOutputTokens":4096,"contextTokens":128000,"ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-reasoner","priority":0,"weight":1}],"priceId":"price_ckpfqrt7lKPP8CZsC7tp1IDu","onDisconnect":"abort","createdAt":1795404216257,"price":{"input":"0.1","cachedInput":"0.05","output":"0.4"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (7, 'audit_mwspbblc35v0T3YLc1eCrrWe', 1795404216432, 'start', 'model.created', 'sandbox-image', NULL, '{"name":"sandbox-image","kind":"image","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-image","priority":0,"weight":1}],"priceId":"price_wf3RmUTqwE0LR1vF3OfV4ffe","onDisconnect":"abort","createdAt":1795404216257,"price":{"perImage":"0.002"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (8, 'audit_mwspbblrzOaz1d3OksHH5CZa', 1795404216447, 'start', 'model.created', 'sandbox-embed', NULL, '{"name":"sandbox-embed","kind":"embed","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-embed","priority":0,"weight":1}],"priceId":"price_gVcfLrHjE2kY18uBqV4LwNuN","onDisconnect":"abort","createdAt":1795404216257,"price":{"input":"0.02"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (9, 'audit_mwspbbm4USBIIJu6xH9WSKhx', 1795404216460, 'start', 'model.created', 'sandbox-speech', NULL, '{"name":"sandbox-speech","kind":"speech","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-speech","priority":0,"weight":1}],"priceId":"price_TKVdtvE8tK3miW3FW1e2YxL8","onDisconnect":"abort","createdAt":1795404216257,"price":{"perMillionCharacters":"1"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (10, 'audit_mwspbbmiEEixU98JS9UyNyhv', 1795404216474, 'start', 'model.created', 'sandbox-transcription', NULL, '{"name":"sandbox-transcription","kind":"transcription","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-transcription","priority":0,"weight":1}],"priceId":"price_swASGFXOCmp3vG09WHMJDyp1","onDisconnect":"abort","createdAt":1795404216257,"price":{"perSecond":"0.0001"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (11, 'audit_mwspbbnnoeDHNzJCndfV4f40', 1795404216515, 'start', 'model.created', 'sandbox-moderation', NULL, '{"name":"sandbox-moderation","kind":"moderation","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-moderation","priority":0,"weight":1}],"priceId":"price_j4A4m6CKGisSftbPYh76sTBl","onDisconnect":"abort","createdAt":1795404216257,"price":{"perCall":"0.0001"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (12, 'audit_mwspbbq7lydsKI0V155DQrTK', 1795404216607, 'start', 'model.created', 'sandbox-video', NULL, '{"name":"sandbox-video","kind":"video","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-video","priority":0,"weight":1}],"priceId":"price_B7EIBPJiuv40qWK1Q4p8jMMa","onDisconnect":"abort","createdAt":1795404216257,"price":{"perSecond":"0.001"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (13, 'audit_mwspbbqvoRro7ImX9xolnrGw', 1795404216631, 'start', 'model.created', 'sandbox-rerank', NULL, '{"name":"sandbox-rerank","kind":"rerank","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-rerank","priority":0,"weight":1}],"priceId":"price_itKOvcoWU6OGAENrgtTADvWw","onDisconnect":"abort","createdAt":1795404216257,"price":{"input":"0.02","perCall":"0.0001"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (14, 'audit_mwspbbroKkQhgZqpAfhSdGCk', 1795404216660, 'file modelport.yaml 88d66f44', 'provider.created', 'first', NULL, '{"name":"first","type":"openai-compatible","baseUrl":"http://127.0.0.1:35235/openai/v1","credentials":["…ease"],"settings":{}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (15, 'audit_mwspbbs49Jvg89NphjZrblax', 1795404216676, 'file modelport.yaml 88d66f44', 'model.created', 'alpha', NULL, '{"name":"alpha","kind":"chat","maxOutputTokens":1000,"targets":[{"provider":"first","model":"m","priority":0,"weight":1}],"priceId":"price_wpL3WcvJFxgNS1Tk9d7JhTAX","ownedBy":"openai-compatible","onDisconnect":"abort","createdAt":1795404216651,"price":{"input":"1","cachedInput":"0.5","output":"4"}}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (16, 'audit_mwspbc314wECIU5jJL1DITzl', 1795404217069, 'key_1mYnv5isyEL6AD4bUWkVndcc', 'account.created', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', NULL, '{"id":"acct_OjyEJUjeKT2UAuQoSrUGvkUH","name":"test-21931-1","balance":"0","held":"0","createdAt":1795404217069}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (17, 'audit_mwspbc4fMdRqh2asdGEE54qi', 1795404217119, 'key_1mYnv5isyEL6AD4bUWkVndcc', 'account.topped-up', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', NULL, '{"amount":"5","seq":1,"note":"test"}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (18, 'audit_mwspbc5fHniZkchje8wEXpIv', 1795404217155, 'key_1mYnv5isyEL6AD4bUWkVndcc', 'key.created', 'key_y1J7TjnPVqBYSKY4YS9wmwLf', NULL, '{"id":"key_y1J7TjnPVqBYSKY4YS9wmwLf","account":"acct_OjyEJUjeKT2UAuQoSrUGvkUH","kind":"caller","name":"test","last4":"2vHP","createdAt":1795404217155}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (19, 'audit_mwspbc9rFYYgBfeHOO6L4Nop', 1795404217311, 'key_1mYnv5isyEL6AD4bUWkVndcc', 'account.adjusted', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', NULL, '{"amount":"-0.25","seq":2,"note":"test"}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (20, 'audit_mwspbcbeH41siFWbsDzpIZcZ', 1795404217370, 'key_1mYnv5isyEL6AD4bUWkVndcc', 'account.changed', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', '{"id":"acct_OjyEJUjeKT2UAuQoSrUGvkUH","name":"test-21931-1","balance":"4.75","held":"0","createdAt":1795404217069}', '{"id":"acct_OjyEJUjeKT2UAuQoSrUGvkUH","name":"test-21931-1","balance":"4.75","held":"0","createdAt":1795404217069,"budget":{"month":"100"},"requestsPerMinute":600}');
INSERT INTO public.audits OVERRIDING SYSTEM VALUE VALUES (21, 'audit_mwspbcc41PULIaJoGjL49kzf', 1795404217396, 'key_1mYnv5isyEL6AD4bUWkVndcc', 'code.created', 'code_EMBjpBJ6x9hzr6TKYGP2MjQz', NULL, '{"id":"code_EMBjpBJ6x9hzr6TKYGP2MjQz","last4":"EGcF","amount":"1","createdAt":1795404217396}');
INSERT INTO public.call_sums VALUES ('acct_OjyEJUjeKT2UAuQoSrUGvkUH', 498723, 'key_y1J7TjnPVqBYSKY4YS9wmwLf', 'alpha', 3, 78000, 22, 14, 0);
INSERT INTO public.call_sums VALUES ('acct_OjyEJUjeKT2UAuQoSrUGvkUH', 498723, 'key_y1J7TjnPVqBYSKY4YS9wmwLf', 'sandbox-chat', 1, 13200, 4, 32, 0);
INSERT INTO public.calls_20261123 VALUES ('req_mwspbccwF730fWxtl7yc7jNa', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', 'key_y1J7TjnPVqBYSKY4YS9wmwLf', 1795404217434, 'alpha', 'first', 'm', 'openai-chat', 'openai-chat', 0, 200, 'ok', NULL, 1, 39000, 'price_wpL3WcvJFxgNS1Tk9d7JhTAX', '{"input":11,"output":7,"source":"reported"}', 192, 176, 3, 11, 7, 0, NULL, 0);
INSERT INTO public.calls_20261123 VALUES ('req_mwspbcjwpeBZRP6N2XsFHjSE', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', 'key_y1J7TjnPVqBYSKY4YS9wmwLf', 1795404217676, 'alpha', 'first', 'm', 'openai-chat', 'openai-chat', 1, 200, 'ok', NULL, 1, 39000, 'price_wpL3WcvJFxgNS1Tk9d7JhTAX', '{"input":11,"output":7,"source":"reported"}', 107, 92, 4, 11, 7, 0, NULL, 0);
INSERT INTO public.calls_20261123 VALUES ('req_mwspbcopUDqJFJzYeZabHBXl', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', 'key_y1J7TjnPVqBYSKY4YS9wmwLf', 1795404217849, 'alpha', 'first', 'm', 'openai-chat', 'openai-chat', 0, 400, 'refused', 'upstream_refused', 1, 0, 'price_wpL3WcvJFxgNS1Tk9d7JhTAX', NULL, 28, NULL, NULL, 0, 0, 0, NULL, 0);
INSERT INTO public.calls_20261123 VALUES ('req_mwspbcqmiLsAenzpwRGTVbDh', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', 'key_y1J7TjnPVqBYSKY4YS9wmwLf', 1795404217918, 'sandbox-chat', 'sandbox', 'sandbox-chat', 'openai-chat', 'openai-chat', 0, 200, 'ok', NULL, 1, 13200, 'price_gTGbH71UMubi8LEplhhod3aF', '{"input":4,"output":32,"source":"reported"}', 96, 95, 5, 4, 32, 0, NULL, 0);
INSERT INTO public.codes OVERRIDING SYSTEM VALUE VALUES (1, 'code_EMBjpBJ6x9hzr6TKYGP2MjQz', 'b2fdbd540cc4138cabda6d6e980d1188efcd12e45eccbc80591b724ceab35d34', 'EGcF', 1000000000, NULL, 1795404217396, NULL, NULL, NULL, NULL);
INSERT INTO public.config_files VALUES ('88d66f44', 'modelport.yaml', 'vm', 1795404216679);
INSERT INTO public.entries VALUES ('acct_0yH4qnliBbwWsLftWc0Q19FY', 1, 'top-up', 10000000000, 10000000000, 'cash', NULL, 'starting credit', NULL, 1795404216114, '76d8f7a595db0f18ada34c3148810a7519084d7fca0cc8b2dc19c560e08800f7');
INSERT INTO public.entries VALUES ('acct_OjyEJUjeKT2UAuQoSrUGvkUH', 1, 'top-up', 5000000000, 5000000000, 'cash', NULL, 'test', NULL, 1795404217119, 'c452a984895ef397d79bbcbf62bf82560d9c992071d1433f6f4132762e268746');
INSERT INTO public.entries VALUES ('acct_OjyEJUjeKT2UAuQoSrUGvkUH', 2, 'adjustment', -250000000, 4750000000, 'adjustments', NULL, 'test', NULL, 1795404217311, 'aead4acba6578944ecb8e1c191693fb438a354cad03c5321750739ff5c83a343');
INSERT INTO public.entries VALUES ('acct_OjyEJUjeKT2UAuQoSrUGvkUH', 3, 'charge', -39000, 4749961000, 'revenue', 'req_mwspbccwF730fWxtl7yc7jNa', NULL, NULL, 1795404217626, '343bf428dc6eada327affba8242351e05317aaa4ee52eacd85d37bea017bd4ac');
INSERT INTO public.entries VALUES ('acct_OjyEJUjeKT2UAuQoSrUGvkUH', 4, 'charge', -39000, 4749922000, 'revenue', 'req_mwspbcjwpeBZRP6N2XsFHjSE', NULL, NULL, 1795404217783, '7094bf3481599b65c923c5dd57bc8fb225fa70fc4ecda35e2ef94f2cb1c1009a');
INSERT INTO public.entries VALUES ('acct_OjyEJUjeKT2UAuQoSrUGvkUH', 5, 'charge', -13200, 4749908800, 'revenue', 'req_mwspbcqmiLsAenzpwRGTVbDh', NULL, NULL, 1795404218014, '1dcbc70109ad6761ac20fe920fc11ea5893935c7a601a9b892ee7a8327c358fb');
INSERT INTO public.generation VALUES (24);
INSERT INTO public.holds VALUES ('req_mwspbd5nMI7k91TJuZRWYQNV', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', 'key_y1J7TjnPVqBYSKY4YS9wmwLf', 4108000, 'alpha', 'price_wpL3WcvJFxgNS1Tk9d7JhTAX', 1795404218459, 'proc_VK4bMcQqxRNZ@22175.6259972@da18c3c2-e87a-4ca4-baed-99d16666aab4@4026531836.4026531834@vm#1', 1795404218459, 108000);
INSERT INTO public.kept_from VALUES (0);
INSERT INTO public.keys OVERRIDING SYSTEM VALUE VALUES (1, 'key_ZLxc1uwyogRMZYJ36A2GQM9Q', 'acct_0yH4qnliBbwWsLftWc0Q19FY', 'caller', 'first start', '7173131c3d6a2409fc38635b4c174f504c47265762e8d6151d7fa022435437af', 'test', 1795404216114, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.keys OVERRIDING SYSTEM VALUE VALUES (2, 'key_1mYnv5isyEL6AD4bUWkVndcc', 'acct_0yH4qnliBbwWsLftWc0Q19FY', 'admin', 'first start', 'df4463f3fc794dcccb1d8152283c0ce8e9639bd346b61d2eb744f9f495ffaaa6', 'test', 1795404216114, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.keys OVERRIDING SYSTEM VALUE VALUES (3, 'key_y1J7TjnPVqBYSKY4YS9wmwLf', 'acct_OjyEJUjeKT2UAuQoSrUGvkUH', 'caller', 'test', '4e8d1d1960de46ea63613bfa20db5aeedaea50859162cb9f538bcc742f8dc2b2', '2vHP', 1795404217155, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.ledger_checkpoints VALUES ('42915984a7a50106', 'hour 498723', '{"calls":4,"inputTokens":26,"outputTokens":46,"cost":"91200"}', '4b8ddf436fdf73a459b98179d3e44e80baf86817867c35927866fdeea0410e6e');
INSERT INTO public.ledger_checkpoints VALUES ('42915984a7a50106', 'account acct_0yH4qnliBbwWsLftWc0Q19FY', '{"seq":1,"hash":"76d8f7a595db0f18ada34c3148810a7519084d7fca0cc8b2dc19c560e08800f7","balance":"10000000000","spent":"0","counters":{"cash":"-10000000000"}}', 'f2ae28d98a947739e1e32ea54c86c89a606224f73a915867cf307b50e3f6fa8c');
INSERT INTO public.ledger_checkpoints VALUES ('42915984a7a50106', 'account acct_OjyEJUjeKT2UAuQoSrUGvkUH', '{"seq":5,"hash":"1dcbc70109ad6761ac20fe920fc11ea5893935c7a601a9b892ee7a8327c358fb","balance":"4749908800","spent":"91200","counters":{"adjustments":"250000000","revenue":"91200","cash":"-5000000000"}}', '46924da95169e9a4d0664483d96dd970f0789bf81fc48b196c0c547e05acf184');
INSERT INTO public.migrations VALUES (1, 'd0b4e8959e836eb0ff8557ae4285fcca45a829573a4766b83694fc6359412520', 0);
INSERT INTO public.migrations VALUES (2, '255fc3bf01a66f1553bdc0a8cd748ac946b23047be3cbf2b99fb6c90f9393e5e', 0);
INSERT INTO public.migrations VALUES (3, '794414247a83f4772ebba0acdf8a2940ac5c59c3536345fb80dce4ad5defb1e5', 0);
INSERT INTO public.migrations VALUES (4, 'c1c49f42d33a35f8d7030e8f298311c18a7e0047ac173291d970611e9d287c0d', 0);
INSERT INTO public.migrations VALUES (5, 'a5b1c9cd6db6711bbc9827899c8f9d7b86c2f9a94fe03fc2763a3be3e76de223', 0);
INSERT INTO public.migrations VALUES (6, 'c8a62d2960a6eddd7b493d25873b80599fe9ec2a41ee515c9f95ab8d1862d179', 0);
INSERT INTO public.migrations VALUES (7, 'eaa99f315281cb397b9ab85ef7b3e94f6ad8cd5525242bae39c7493862d458ca', 0);
INSERT INTO public.migrations VALUES (8, '7b7e41791c7da9fa66d9225105c8f9bb5b335bd262a4277cd66911e4cf4cfbe2', 0);
INSERT INTO public.migrations VALUES (9, 'd71075aba2cac1e2d18fabd25757a82aad72b395a132d94b820b61cbd178a449', 0);
INSERT INTO public.migrations VALUES (10, '591ab46e5514a47d42194dccae790bbd0a6e8f361b1fa554539c90ea7eb43a32', 0);
INSERT INTO public.migrations VALUES (11, 'c14698bcc582fd31e5861cb000e982da4b80a45019f76cb92ef547bd5aa205ae', 0);
INSERT INTO public.migrations VALUES (12, '66c350568cfbe19b8c15a0e76cffa1b709a466d3ca26837aa925a456744b85e6', 0);
INSERT INTO public.migrations VALUES (13, '300655f7913fcace257cb87835404bdc79c3470383a102c0be8e9e0809ac8df6', 0);
INSERT INTO public.migrations VALUES (14, '4574a9e8eeb4ad67fcf64a0c9e160d9d6d3f7948ed14827260bff4759caae288', 0);
INSERT INTO public.migrations VALUES (15, 'e58c0d40636a1ffe96b95bb226a121541ea279cedf3d78921fbede6e92f1286b', 0);
INSERT INTO public.migrations VALUES (16, '37b3f02b7379fcb032b99dd6046045f73caeda42976887b4265e39520786f3c7', 0);
INSERT INTO public.migrations VALUES (17, '63bc773964a16ff6c8f8ece94b91193b53f6b87570450f30220f32f3618d36ef', 0);
INSERT INTO public.models VALUES ('sandbox-chat', 'chat', 'price_gTGbH71UMubi8LEplhhod3aF', 4096, 128000, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-chat","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('sandbox-reasoner', 'chat', 'price_ckpfqrt7lKPP8CZsC7tp1IDu', 4096, 128000, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-reasoner","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('sandbox-image', 'image', 'price_wf3RmUTqwE0LR1vF3OfV4ffe', NULL, NULL, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-image","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('sandbox-embed', 'embed', 'price_gVcfLrHjE2kY18uBqV4LwNuN', NULL, NULL, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-embed","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('sandbox-speech', 'speech', 'price_TKVdtvE8tK3miW3FW1e2YxL8', NULL, NULL, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-speech","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('sandbox-transcription', 'transcription', 'price_swASGFXOCmp3vG09WHMJDyp1', NULL, NULL, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-transcription","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('sandbox-moderation', 'moderation', 'price_j4A4m6CKGisSftbPYh76sTBl', NULL, NULL, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-moderation","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('sandbox-video', 'video', 'price_B7EIBPJiuv40qWK1Q4p8jMMa', NULL, NULL, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-video","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('sandbox-rerank', 'rerank', 'price_itKOvcoWU6OGAENrgtTADvWw', NULL, NULL, NULL, 'modelport', 'abort', 1795404216257, '[{"provider":"sandbox","model":"sandbox-rerank","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.models VALUES ('alpha', 'chat', 'price_wpL3WcvJFxgNS1Tk9d7JhTAX', 1000, NULL, NULL, 'openai-compatible', 'abort', 1795404216651, '[{"provider":"first","model":"m","priority":0,"weight":1}]', NULL, NULL, NULL, NULL, '{}');
INSERT INTO public.owners VALUES ('proc_VK4bMcQqxRNZ@22175.6259972@da18c3c2-e87a-4ca4-baed-99d16666aab4@4026531836.4026531834@vm#1', 1795404217986, NULL);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (1, 'price_gTGbH71UMubi8LEplhhod3aF', 'sandbox-chat', '{"input":"100000","cachedInput":"50000","output":"400000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (2, 'price_ckpfqrt7lKPP8CZsC7tp1IDu', 'sandbox-reasoner', '{"input":"100000","cachedInput":"50000","output":"400000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (3, 'price_wf3RmUTqwE0LR1vF3OfV4ffe', 'sandbox-image', '{"perImage":"2000000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (4, 'price_gVcfLrHjE2kY18uBqV4LwNuN', 'sandbox-embed', '{"input":"20000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (5, 'price_TKVdtvE8tK3miW3FW1e2YxL8', 'sandbox-speech', '{"perCharacter":"1000000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (6, 'price_swASGFXOCmp3vG09WHMJDyp1', 'sandbox-transcription', '{"perSecond":"100000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (7, 'price_j4A4m6CKGisSftbPYh76sTBl', 'sandbox-moderation', '{"perCall":"100000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (8, 'price_B7EIBPJiuv40qWK1Q4p8jMMa', 'sandbox-video', '{"perSecond":"1000000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (9, 'price_itKOvcoWU6OGAENrgtTADvWw', 'sandbox-rerank', '{"input":"20000","perCall":"100000"}', 1795404216257);
INSERT INTO public.prices OVERRIDING SYSTEM VALUE VALUES (10, 'price_wpL3WcvJFxgNS1Tk9d7JhTAX', 'alpha', '{"input":"1000000","cachedInput":"500000","output":"4000000"}', 1795404216651);
INSERT INTO public.probes VALUES ('ready', 1795404217038);
INSERT INTO public.providers VALUES ('sandbox', 'sandbox', NULL, '[]', '{}', '{}');
INSERT INTO public.providers VALUES ('first', 'openai-compatible', 'http://127.0.0.1:35235/openai/v1', '["sealed:1:a3d629a2:alegH-Dv9dITcEWLU2hWrJa_Gad-N_R0IQitmpMs_EgBnMqcKilXqvyBvTeo1UvY0w"]', '{}', '{}');
INSERT INTO public.spendings VALUES ('key_y1J7TjnPVqBYSKY4YS9wmwLf', 4108000, 91200, 20780, 91200, 682, 91200, 0, 0, 0, 0, 0);
SELECT pg_catalog.setval('public.accounts_seq_seq', 2, true);
SELECT pg_catalog.setval('public.audits_seq_seq', 21, true);
SELECT pg_catalog.setval('public.codes_seq_seq', 1, true);
SELECT pg_catalog.setval('public.keys_seq_seq', 3, true);
SELECT pg_catalog.setval('public.prices_seq_seq', 10, true);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_name_key UNIQUE (name);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_seq_key UNIQUE (seq);
ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_seq_key UNIQUE (seq);
ALTER TABLE ONLY public.cached_replies
    ADD CONSTRAINT cached_replies_pkey PRIMARY KEY (account, hash);
ALTER TABLE ONLY public.call_sums
    ADD CONSTRAINT call_sums_pkey PRIMARY KEY (account, hour, key, model);
ALTER TABLE ONLY public.calls
    ADD CONSTRAINT calls_pkey PRIMARY KEY (id, at);
ALTER TABLE ONLY public.calls_20261123
    ADD CONSTRAINT calls_20261123_pkey PRIMARY KEY (id, at);
ALTER TABLE ONLY public.calls_20261124
    ADD CONSTRAINT calls_20261124_pkey PRIMARY KEY (id, at);
ALTER TABLE ONLY public.calls_20261125
    ADD CONSTRAINT calls_20261125_pkey PRIMARY KEY (id, at);
ALTER TABLE ONLY public.calls_20261126
    ADD CONSTRAINT calls_20261126_pkey PRIMARY KEY (id, at);
ALTER TABLE ONLY public.calls_of_other_days
    ADD CONSTRAINT calls_of_other_days_pkey PRIMARY KEY (id, at);
ALTER TABLE ONLY public.codes
    ADD CONSTRAINT codes_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.codes
    ADD CONSTRAINT codes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.codes
    ADD CONSTRAINT codes_seq_key UNIQUE (seq);
ALTER TABLE ONLY public.config_files
    ADD CONSTRAINT config_files_pkey PRIMARY KEY (fingerprint);
ALTER TABLE ONLY public.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (account, seq);
ALTER TABLE ONLY public.holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (call_id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_seq_key UNIQUE (seq);
ALTER TABLE ONLY public.ledger_checkpoints
    ADD CONSTRAINT ledger_checkpoints_pkey PRIMARY KEY (signer, subject);
ALTER TABLE ONLY public.ledger_verifications
    ADD CONSTRAINT ledger_verifications_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.owners
    ADD CONSTRAINT owners_pkey PRIMARY KEY (owner);
ALTER TABLE ONLY public.prices
    ADD CONSTRAINT prices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.prices
    ADD CONSTRAINT prices_seq_key UNIQUE (seq);
ALTER TABLE ONLY public.probes
    ADD CONSTRAINT probes_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.proofs
    ADD CONSTRAINT proofs_pkey PRIMARY KEY (account, key);
ALTER TABLE ONLY public.providers
    ADD CONSTRAINT providers_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.response_items
    ADD CONSTRAINT response_items_pkey PRIMARY KEY (account, item);
ALTER TABLE ONLY public.responses
    ADD CONSTRAINT responses_pkey PRIMARY KEY (account, id);
ALTER TABLE ONLY public.spendings
    ADD CONSTRAINT spendings_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_secrets
    ADD CONSTRAINT webhook_secrets_pkey PRIMARY KEY (account);
CREATE INDEX audits_by_subject ON public.audits USING btree (subject, seq);
CREATE INDEX cached_replies_by_age ON public.cached_replies USING btree (account, at, hash, bytes);
CREATE INDEX cached_replies_by_expiry ON public.cached_replies USING btree (expires_at);
CREATE INDEX call_sums_by_hour ON public.call_sums USING btree (hour);
CREATE INDEX calls_by_account ON ONLY public.calls USING btree (account, at, id);
CREATE INDEX calls_20261123_account_at_id_idx ON public.calls_20261123 USING btree (account, at, id);
CREATE INDEX calls_by_time ON ONLY public.calls USING btree (at, id);
CREATE INDEX calls_20261123_at_id_idx ON public.calls_20261123 USING btree (at, id);
CREATE INDEX calls_disputed ON ONLY public.calls USING btree (at, id) WHERE (outcome = 'disputed'::text);
CREATE INDEX calls_20261123_at_id_idx1 ON public.calls_20261123 USING btree (at, id) WHERE (outcome = 'disputed'::text);
CREATE INDEX calls_20261124_account_at_id_idx ON public.calls_20261124 USING btree (account, at, id);
CREATE INDEX calls_20261124_at_id_idx ON public.calls_20261124 USING btree (at, id);
CREATE INDEX calls_20261124_at_id_idx1 ON public.calls_20261124 USING btree (at, id) WHERE (outcome = 'disputed'::text);
CREATE INDEX calls_20261125_account_at_id_idx ON public.calls_20261125 USING btree (account, at, id);
CREATE INDEX calls_20261125_at_id_idx ON public.calls_20261125 USING btree (at, id);
CREATE INDEX calls_20261125_at_id_idx1 ON public.calls_20261125 USING btree (at, id) WHERE (outcome = 'disputed'::text);
CREATE INDEX calls_20261126_account_at_id_idx ON public.calls_20261126 USING btree (account, at, id);
CREATE INDEX calls_20261126_at_id_idx ON public.calls_20261126 USING btree (at, id);
CREATE INDEX calls_20261126_at_id_idx1 ON public.calls_20261126 USING btree (at, id) WHERE (outcome = 'disputed'::text);
CREATE INDEX calls_of_other_days_account_at_id_idx ON public.calls_of_other_days USING btree (account, at, id);
CREATE INDEX calls_of_other_days_at_id_idx ON public.calls_of_other_days USING btree (at, id);
CREATE INDEX calls_of_other_days_at_id_idx1 ON public.calls_of_other_days USING btree (at, id) WHERE (outcome = 'disputed'::text);
CREATE UNIQUE INDEX codes_by_idempotency_key ON public.codes USING btree (idempotency_key);
CREATE INDEX entries_by_corrected_call ON public.entries USING btree (call_id) WHERE ((call_id IS NOT NULL) AND (kind <> 'charge'::text));
CREATE UNIQUE INDEX entries_by_idempotency_key ON public.entries USING btree (account, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX keys_by_account ON public.keys USING btree (account, seq);
CREATE UNIQUE INDEX keys_by_prior_hash ON public.keys USING btree (prior_hash) WHERE (prior_hash IS NOT NULL);
CREATE INDEX proofs_by_expiry ON public.proofs USING btree (expires_at);
CREATE INDEX response_items_by_response ON public.response_items USING btree (account, response);
CREATE INDEX responses_by_end ON public.responses USING btree (kept_until);
CREATE INDEX responses_by_expiry ON public.responses USING btree (expires_at);
CREATE INDEX responses_by_previous ON public.responses USING btree (account, previous) WHERE (previous IS NOT NULL);
CREATE INDEX tasks_by_account ON public.tasks USING btree (account, created_at, id);
CREATE UNIQUE INDEX tasks_by_key ON public.tasks USING btree (account, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX tasks_due ON public.tasks USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX tasks_leased ON public.tasks USING btree (lease) WHERE (lease IS NOT NULL);
ALTER INDEX public.calls_by_account ATTACH PARTITION public.calls_20261123_account_at_id_idx;
ALTER INDEX public.calls_by_time ATTACH PARTITION public.calls_20261123_at_id_idx;
ALTER INDEX public.calls_disputed ATTACH PARTITION public.calls_20261123_at_id_idx1;
ALTER INDEX public.calls_pkey ATTACH PARTITION public.calls_20261123_pkey;
ALTER INDEX public.calls_by_account ATTACH PARTITION public.calls_20261124_account_at_id_idx;
ALTER INDEX public.calls_by_time ATTACH PARTITION public.calls_20261124_at_id_idx;
ALTER INDEX public.calls_disputed ATTACH PARTITION public.calls_20261124_at_id_idx1;
ALTER INDEX public.calls_pkey ATTACH PARTITION public.calls_20261124_pkey;
ALTER INDEX public.calls_by_account ATTACH PARTITION public.calls_20261125_account_at_id_idx;
ALTER INDEX public.calls_by_time ATTACH PARTITION public.calls_20261125_at_id_idx;
ALTER INDEX public.calls_disputed ATTACH PARTITION public.calls_20261125_at_id_idx1;
ALTER INDEX public.calls_pkey ATTACH PARTITION public.calls_20261125_pkey;
ALTER INDEX public.calls_by_account ATTACH PARTITION public.calls_20261126_account_at_id_idx;
ALTER INDEX public.calls_by_time ATTACH PARTITION public.calls_20261126_at_id_idx;
ALTER INDEX public.calls_disputed ATTACH PARTITION public.calls_20261126_at_id_idx1;
ALTER INDEX public.calls_pkey ATTACH PARTITION public.calls_20261126_pkey;
ALTER INDEX public.calls_by_account ATTACH PARTITION public.calls_of_other_days_account_at_id_idx;
ALTER INDEX public.calls_by_time ATTACH PARTITION public.calls_of_other_days_at_id_idx;
ALTER INDEX public.calls_disputed ATTACH PARTITION public.calls_of_other_days_at_id_idx1;
ALTER INDEX public.calls_pkey ATTACH PARTITION public.calls_of_other_days_pkey;
