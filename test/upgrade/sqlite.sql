PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE migrations (version INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, minimum INTEGER) STRICT;
INSERT INTO migrations VALUES(1,'c82e4f2a26de56e93b725cfcf54fddcf45b2a575818ad6e8812b802068a7d782',0);
INSERT INTO migrations VALUES(2,'fb14eb83c842075d27c4a2542873834550241314a95254a4babdadadf7ba94c7',0);
INSERT INTO migrations VALUES(3,'6c2e2648e2181fba589fa2c8cbf60a183b76e9dd24f10b2a8d9420c54602a366',0);
INSERT INTO migrations VALUES(4,'2554c343cb853cbcafce0e3bf5fce5e255e040b50beed5436be00996b732182e',0);
INSERT INTO migrations VALUES(5,'951cbb44bfc07a1a6e06fd770d1a65f98a4b87ed8da5123558e71081449cf069',0);
INSERT INTO migrations VALUES(6,'794414247a83f4772ebba0acdf8a2940ac5c59c3536345fb80dce4ad5defb1e5',0);
INSERT INTO migrations VALUES(7,'5ccdf635b5bddf1a3d8e2fd5553e3a2456cc43b4905002b7ae0914f8c2d925e5',0);
INSERT INTO migrations VALUES(8,'9e8a8a360a920152446c38807c40d4861a8a4003aaf6a0fa3dd455abc63d57c0',0);
INSERT INTO migrations VALUES(9,'b63148efbb30ff5c0a54a158435d2c2087638bac1de4f92815242e5c3930d4d9',0);
INSERT INTO migrations VALUES(10,'d2a4ad1834042f85223e771f58c33d2a2ae99d4dc21836e77c1adb4be7174952',0);
INSERT INTO migrations VALUES(11,'3e9d2be0378dcee7766ffe14a1c80bf1185f2d5f9163778c4d575e66a9a70c2b',0);
INSERT INTO migrations VALUES(12,'d71075aba2cac1e2d18fabd25757a82aad72b395a132d94b820b61cbd178a449',0);
INSERT INTO migrations VALUES(13,'0ea598252ec68ea0e283406e2129717f5c76d8642ba12999a2ecb9de181d19bc',0);
INSERT INTO migrations VALUES(14,'bc2c58c47b1327413bf3b6302b69db0cc8fb64c959ae05b9978acd0801637a38',0);
INSERT INTO migrations VALUES(15,'949a9cd5d35c272b2dab56fea22560d2d89f049a619296b16310972178a8b455',0);
INSERT INTO migrations VALUES(16,'36df41ee90953757c2eb8e1eeb8923847eb413c5f572d9a6ebaf924c09afa65d',0);
INSERT INTO migrations VALUES(17,'ef96286929a64644a98cafa906e6ab09edb783cd5e8ccebb4e4c32cfe2125da9',0);
INSERT INTO migrations VALUES(18,'98c9cfae83d15857f4b1c99005f181e944d2262956ab5650c3981436332c223f',0);
INSERT INTO migrations VALUES(19,'d040b91346c2759bb45a8ed198258a0347a897979677523f2621217ab05211fb',0);
INSERT INTO migrations VALUES(20,'166eca19b03c3759f0728b07b789ce2e8d16b1e476109f99f07defb0e3383b29',0);
INSERT INTO migrations VALUES(21,'4580ec7617d83a44599e04fe76988f9fddb5a8b8786a9cb2d02651d2ac1afcf2',0);
CREATE TABLE generation (value INTEGER NOT NULL) STRICT;
INSERT INTO generation VALUES(24);
CREATE TABLE accounts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    balance INTEGER NOT NULL,
    held INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    last_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL
  , disabled_at INTEGER, budget_total INTEGER, budget_day INTEGER, budget_month INTEGER, requests_per_minute INTEGER, tokens_per_minute INTEGER, concurrency INTEGER, spent INTEGER NOT NULL DEFAULT 0, day INTEGER NOT NULL DEFAULT 0, day_spent INTEGER NOT NULL DEFAULT 0, month INTEGER NOT NULL DEFAULT 0, month_spent INTEGER NOT NULL DEFAULT 0, prior_day INTEGER NOT NULL DEFAULT 0, prior_day_spent INTEGER NOT NULL DEFAULT 0, prior_month INTEGER NOT NULL DEFAULT 0, prior_month_spent INTEGER NOT NULL DEFAULT 0, late_since INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO accounts VALUES(1,'acct_hU9QTp0UGdxPTMoSmOs2wEkP','default',10000000000,0,1,'369763572203f13d42ce392e956e8cd84334d2616b855bb29c7af7d6cd761ccd',1795404209064,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,0,0,0,0,0,0,0);
INSERT INTO accounts VALUES(2,'acct_R5EApQaBGcq4TKgs51OURao0','test-21931-1',4749908800,4108000,5,'645f02cb0794ddbba9f2a6f525ec26bb89ab11ac64ff5b4f4d5e2ecc6eed0ac8',1795404209645,NULL,NULL,NULL,100000000000,600,NULL,NULL,91200,20780,91200,682,91200,0,0,0,0,0);
CREATE TABLE keys (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    last4 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    disabled_at INTEGER,
    models TEXT,
    addresses TEXT,
    scopes TEXT,
    budget_total INTEGER,
    budget_day INTEGER,
    budget_month INTEGER,
    requests_per_minute INTEGER,
    tokens_per_minute INTEGER,
    concurrency INTEGER
  , prior_hash TEXT, prior_until INTEGER, aliases TEXT, caller_routing INTEGER, cache_seconds INTEGER) STRICT;
INSERT INTO keys VALUES(1,'key_0GJvPTBVGcYoLMEJRibafBnE','acct_hU9QTp0UGdxPTMoSmOs2wEkP','caller','first start','7173131c3d6a2409fc38635b4c174f504c47265762e8d6151d7fa022435437af','test',1795404209064,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO keys VALUES(2,'key_vPItncptW8eb8HUDLJAvZvDc','acct_hU9QTp0UGdxPTMoSmOs2wEkP','admin','first start','df4463f3fc794dcccb1d8152283c0ce8e9639bd346b61d2eb744f9f495ffaaa6','test',1795404209064,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO keys VALUES(3,'key_4hKgrhAl2Xkumk7oRDhTjiCV','acct_R5EApQaBGcq4TKgs51OURao0','caller','test','92e0603a4e1a0d95d5d927faf3593bf07833ce6dcc84be7cd52a0f9b7af425a3','HfYt',1795404209674,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE spendings (
    key TEXT PRIMARY KEY,
    held INTEGER NOT NULL,
    total INTEGER NOT NULL,
    day INTEGER NOT NULL,
    day_spent INTEGER NOT NULL,
    month INTEGER NOT NULL,
    month_spent INTEGER NOT NULL
  , prior_day INTEGER NOT NULL DEFAULT 0, prior_day_spent INTEGER NOT NULL DEFAULT 0, prior_month INTEGER NOT NULL DEFAULT 0, prior_month_spent INTEGER NOT NULL DEFAULT 0, late_since INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO spendings VALUES('key_4hKgrhAl2Xkumk7oRDhTjiCV',4108000,91200,20780,91200,682,91200,0,0,0,0,0);
CREATE TABLE entries (
    account TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    balance_after INTEGER NOT NULL,
    counter TEXT NOT NULL,
    call_id TEXT,
    note TEXT,
    idempotency_key TEXT,
    at INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (account, seq)
  ) STRICT, WITHOUT ROWID;
INSERT INTO entries VALUES('acct_R5EApQaBGcq4TKgs51OURao0',1,'top-up',5000000000,5000000000,'cash',NULL,'test',NULL,1795404209662,'32ae04647437ea7903d137b66ab1c0b87474c393ccff78114d7674b13aee74d6');
INSERT INTO entries VALUES('acct_R5EApQaBGcq4TKgs51OURao0',2,'adjustment',-250000000,4750000000,'adjustments',NULL,'test',NULL,1795404209681,'a8cfa39acbf92cae44cf2a8aa0730ac7ca49e9c0ad8d2a48061ee8106bb94728');
INSERT INTO entries VALUES('acct_R5EApQaBGcq4TKgs51OURao0',3,'charge',-39000,4749961000,'revenue','req_mwspb6eeoxc8jagkuqub9MNo',NULL,NULL,1795404209786,'767e638fe60e085afaf5ff41c80437e4d064edada2442ae977f56dbd7b5fb269');
INSERT INTO entries VALUES('acct_R5EApQaBGcq4TKgs51OURao0',4,'charge',-39000,4749922000,'revenue','req_mwspb6gx19umASI600Dag8dN',NULL,NULL,1795404209802,'1918d0a9d8c030bc668cc47bb1c11edd0f21cea28738491f98a00f2b83f6bde1');
INSERT INTO entries VALUES('acct_R5EApQaBGcq4TKgs51OURao0',5,'charge',-13200,4749908800,'revenue','req_mwspb6ho1U7EHXW5bB5MpbDr',NULL,NULL,1795404209831,'645f02cb0794ddbba9f2a6f525ec26bb89ab11ac64ff5b4f4d5e2ecc6eed0ac8');
INSERT INTO entries VALUES('acct_hU9QTp0UGdxPTMoSmOs2wEkP',1,'top-up',10000000000,10000000000,'cash',NULL,'starting credit',NULL,1795404209064,'369763572203f13d42ce392e956e8cd84334d2616b855bb29c7af7d6cd761ccd');
CREATE TABLE holds (
    call_id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    amount INTEGER NOT NULL,
    model TEXT NOT NULL,
    price_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    owner TEXT NOT NULL,
    sent_at INTEGER,
    checkpoint INTEGER
  ) STRICT, WITHOUT ROWID;
INSERT INTO holds VALUES('req_mwspb6lnpYMvaNdRMkfGe1pz','acct_R5EApQaBGcq4TKgs51OURao0','key_4hKgrhAl2Xkumk7oRDhTjiCV',4108000,'alpha','price_rRS2L4oXlnMMQG27BeVQbpxv',1795404209963,'proc_rDkjr8L4CWhY@21952.6259328@da18c3c2-e87a-4ca4-baed-99d16666aab4@4026531836.4026531834@vm#1',1795404209963,108000);
CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    at INTEGER NOT NULL
  , ended_at INTEGER) STRICT, WITHOUT ROWID;
INSERT INTO owners VALUES('proc_rDkjr8L4CWhY@21952.6259328@da18c3c2-e87a-4ca4-baed-99d16666aab4@4026531836.4026531834@vm#1',1795404209345,NULL);
CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    target_model TEXT NOT NULL,
    dialect TEXT NOT NULL,
    upstream_dialect TEXT NOT NULL,
    stream INTEGER NOT NULL,
    status INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    error_code TEXT,
    attempts INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    price_id TEXT NOT NULL,
    usage TEXT,
    duration_ms INTEGER NOT NULL,
    first_byte_ms INTEGER,
    entry_seq INTEGER
  , input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0, provisional INTEGER NOT NULL DEFAULT 0, completion_seq INTEGER, saved INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO calls VALUES('req_mwspb6eeoxc8jagkuqub9MNo','acct_R5EApQaBGcq4TKgs51OURao0','key_4hKgrhAl2Xkumk7oRDhTjiCV',1795404209702,'alpha','first','m','openai-chat','openai-chat',0,200,'ok',NULL,1,39000,'price_rRS2L4oXlnMMQG27BeVQbpxv','{"input":11,"output":7,"source":"reported"}',84,79,3,11,7,0,NULL,0);
INSERT INTO calls VALUES('req_mwspb6gx19umASI600Dag8dN','acct_R5EApQaBGcq4TKgs51OURao0','key_4hKgrhAl2Xkumk7oRDhTjiCV',1795404209793,'alpha','first','m','openai-chat','openai-chat',1,200,'ok',NULL,1,39000,'price_rRS2L4oXlnMMQG27BeVQbpxv','{"input":11,"output":7,"source":"reported"}',9,9,4,11,7,0,NULL,0);
INSERT INTO calls VALUES('req_mwspb6hgYCpP0SwwaEpoRE2O','acct_R5EApQaBGcq4TKgs51OURao0','key_4hKgrhAl2Xkumk7oRDhTjiCV',1795404209812,'alpha','first','m','openai-chat','openai-chat',0,400,'refused','upstream_refused',1,0,'price_rRS2L4oXlnMMQG27BeVQbpxv',NULL,5,NULL,NULL,0,0,0,NULL,0);
INSERT INTO calls VALUES('req_mwspb6ho1U7EHXW5bB5MpbDr','acct_R5EApQaBGcq4TKgs51OURao0','key_4hKgrhAl2Xkumk7oRDhTjiCV',1795404209820,'sandbox-chat','sandbox','sandbox-chat','openai-chat','openai-chat',0,200,'ok',NULL,1,13200,'price_OULDpNb5eEWbLhlSN5stkfLB','{"input":4,"output":32,"source":"reported"}',11,10,5,4,32,0,NULL,0);
CREATE TABLE prices (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    components TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
INSERT INTO prices VALUES(1,'price_OULDpNb5eEWbLhlSN5stkfLB','sandbox-chat','{"input":"100000","cachedInput":"50000","output":"400000"}',1795404209099);
INSERT INTO prices VALUES(2,'price_fngIj7PLSbBenfUdME7vksKN','sandbox-reasoner','{"input":"100000","cachedInput":"50000","output":"400000"}',1795404209099);
INSERT INTO prices VALUES(3,'price_aFgBVSYQXeF7rLBGeuojVJ1Y','sandbox-image','{"perImage":"2000000"}',1795404209099);
INSERT INTO prices VALUES(4,'price_Hy2PKn9gGzoHzAz8vv04qa2w','sandbox-embed','{"input":"20000"}',1795404209099);
INSERT INTO prices VALUES(5,'price_gXsAd9sAGUizLOQZjiFUTAIN','sandbox-speech','{"perCharacter":"1000000"}',1795404209099);
INSERT INTO prices VALUES(6,'price_WrEtt2nAfVqWjI9OUTUQxR6G','sandbox-transcription','{"perSecond":"100000"}',1795404209099);
INSERT INTO prices VALUES(7,'price_8sGiOg32mpTBPs9hVRNCMPqa','sandbox-moderation','{"perCall":"100000"}',1795404209099);
INSERT INTO prices VALUES(8,'price_EAG6aCaMPZCl4FkdOK9EOKw8','sandbox-video','{"perSecond":"1000000"}',1795404209099);
INSERT INTO prices VALUES(9,'price_18h3KjDSYTfY0eG0G7z2iprj','sandbox-rerank','{"input":"20000","perCall":"100000"}',1795404209099);
INSERT INTO prices VALUES(10,'price_rRS2L4oXlnMMQG27BeVQbpxv','alpha','{"input":"1000000","cachedInput":"500000","output":"4000000"}',1795404209238);
CREATE TABLE providers (
    name TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    base_url TEXT,
    credentials TEXT NOT NULL,
    settings TEXT NOT NULL
  , limits TEXT NOT NULL DEFAULT '{}') STRICT, WITHOUT ROWID;
INSERT INTO providers VALUES('first','openai-compatible','http://127.0.0.1:44359/openai/v1','["sealed:1:a3d629a2:GpLml7EDxDKkOLseiOn0PPfjNQg7cUIHSnBkNaci6DU8xieYE_5pVG-OZ-hJBZCgiA"]','{}','{}');
INSERT INTO providers VALUES('sandbox','sandbox',NULL,'[]','{}','{}');
CREATE TABLE models (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    price_id TEXT NOT NULL,
    max_output_tokens INTEGER,
    context_tokens INTEGER,
    display_name TEXT,
    owned_by TEXT NOT NULL,
    on_disconnect TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    targets TEXT NOT NULL
  , max_images INTEGER, aliases TEXT, fallbacks TEXT, continuation TEXT, routing TEXT NOT NULL DEFAULT '{}') STRICT, WITHOUT ROWID;
INSERT INTO models VALUES('alpha','chat','price_rRS2L4oXlnMMQG27BeVQbpxv',1000,NULL,NULL,'openai-compatible','abort',1795404209238,'[{"provider":"first","model":"m","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-chat','chat','price_OULDpNb5eEWbLhlSN5stkfLB',4096,128000,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-chat","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-embed','embed','price_Hy2PKn9gGzoHzAz8vv04qa2w',NULL,NULL,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-embed","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-image','image','price_aFgBVSYQXeF7rLBGeuojVJ1Y',NULL,NULL,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-image","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-moderation','moderation','price_8sGiOg32mpTBPs9hVRNCMPqa',NULL,NULL,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-moderation","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-reasoner','chat','price_fngIj7PLSbBenfUdME7vksKN',4096,128000,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-reasoner","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-rerank','rerank','price_18h3KjDSYTfY0eG0G7z2iprj',NULL,NULL,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-rerank","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-speech','speech','price_gXsAd9sAGUizLOQZjiFUTAIN',NULL,NULL,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-speech","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-transcription','transcription','price_WrEtt2nAfVqWjI9OUTUQxR6G',NULL,NULL,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-transcription","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
INSERT INTO models VALUES('sandbox-video','video','price_EAG6aCaMPZCl4FkdOK9EOKw8',NULL,NULL,NULL,'modelport','abort',1795404209099,'[{"provider":"sandbox","model":"sandbox-video","priority":0,"weight":1}]',NULL,NULL,NULL,NULL,'{}');
CREATE TABLE audits (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    before TEXT,
    after TEXT
  ) STRICT;
INSERT INTO audits VALUES(1,'audit_mwspb5wo0y6apWXjyjlVlQ84',1795404209064,'start','account.created','acct_hU9QTp0UGdxPTMoSmOs2wEkP',NULL,'{"id":"acct_hU9QTp0UGdxPTMoSmOs2wEkP","name":"default","balance":"0","held":"0","createdAt":1795404209064}');
INSERT INTO audits VALUES(2,'audit_mwspb5woaQKWeHXNNzPrr7Cn',1795404209064,'start','key.created','key_0GJvPTBVGcYoLMEJRibafBnE',NULL,'{"id":"key_0GJvPTBVGcYoLMEJRibafBnE","account":"acct_hU9QTp0UGdxPTMoSmOs2wEkP","kind":"caller","name":"first start","last4":"test","createdAt":1795404209064}');
INSERT INTO audits VALUES(3,'audit_mwspb5wownmIcelJQih5m7GT',1795404209064,'start','key.created','key_vPItncptW8eb8HUDLJAvZvDc',NULL,'{"id":"key_vPItncptW8eb8HUDLJAvZvDc","account":"acct_hU9QTp0UGdxPTMoSmOs2wEkP","kind":"admin","name":"first start","last4":"test","createdAt":1795404209064}');
INSERT INTO audits VALUES(4,'audit_mwspb5yelN4SJxueFjKlhGY4',1795404209126,'start','provider.created','sandbox',NULL,'{"name":"sandbox","type":"sandbox","settings":{},"credentials":[]}');
INSERT INTO audits VALUES(5,'audit_mwspb5z4JJ3dFuyG5N69LCqs',1795404209152,'start','model.created','sandbox-chat',NULL,'{"name":"sandbox-chat","kind":"chat","maxOutputTokens":4096,"contextTokens":128000,"ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-chat","priority":0,"weight":1}],"priceId":"price_OULDpNb5eEWbLhlSN5stkfLB","onDisconnect":"abort","createdAt":1795404209099,"price":{"input":"0.1","cachedInput":"0.05","output":"0.4"}}');
INSERT INTO audits VALUES(6,'audit_mwspb5zfsSiPoKiB7r0AfaSM',1795404209163,'start','model.created','sandbox-reasoner',NULL,'{"name":"sandbox-reasoner","kind":"chat","maxOutputTokens":4096,"contextTokens":128000,"ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-reasoner","priority":0,"weight":1}],"priceId":"price_fngIj7PLSbBenfUdME7vksKN","onDisconnect":"abort","createdAt":1795404209099,"price":{"input":"0.1","cachedInput":"0.05","output":"0.4"}}');
INSERT INTO audits VALUES(7,'audit_mwspb5zfsUKV8Yy5PRgUpEL8',1795404209163,'start','model.created','sandbox-image',NULL,'{"name":"sandbox-image","kind":"image","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-image","priority":0,"weight":1}],"priceId":"price_aFgBVSYQXeF7rLBGeuojVJ1Y","onDisconnect":"abort","createdAt":1795404209099,"price":{"perImage":"0.002"}}');
INSERT INTO audits VALUES(8,'audit_mwspb5zj1hbRIBrCH5snfl8B',1795404209167,'start','model.created','sandbox-embed',NULL,'{"name":"sandbox-embed","kind":"embed","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-embed","priority":0,"weight":1}],"priceId":"price_Hy2PKn9gGzoHzAz8vv04qa2w","onDisconnect":"abort","createdAt":1795404209099,"price":{"input":"0.02"}}');
INSERT INTO audits VALUES(9,'audit_mwspb5zkkvI8bIDwzOWQrJgJ',1795404209168,'start','model.created','sandbox-speech',NULL,'{"name":"sandbox-speech","kind":"speech","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-speech","priority":0,"weight":1}],"priceId":"price_gXsAd9sAGUizLOQZjiFUTAIN","onDisconnect":"abort","createdAt":1795404209099,"price":{"perMillionCharacters":"1"}}');
INSERT INTO audits VALUES(10,'audit_mwspb5zrR3kgpZPVUBUQlHCx',1795404209175,'start','model.created','sandbox-transcription',NULL,'{"name":"sandbox-transcription","kind":"transcription","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-transcription","priority":0,"weight":1}],"priceId":"price_WrEtt2nAfVqWjI9OUTUQxR6G","onDisconnect":"abort","createdAt":1795404209099,"price":{"perSecond":"0.0001"}}');
INSERT INTO audits VALUES(11,'audit_mwspb5zvBM8wuhiFp17fTotG',1795404209179,'start','model.created','sandbox-moderation',NULL,'{"name":"sandbox-moderation","kind":"moderation","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-moderation","priority":0,"weight":1}],"priceId":"price_8sGiOg32mpTBPs9hVRNCMPqa","onDisconnect":"abort","createdAt":1795404209099,"price":{"perCall":"0.0001"}}');
INSERT INTO audits VALUES(12,'audit_mwspb603tHa2SV2abOKd0HhN',1795404209187,'start','model.created','sandbox-video',NULL,'{"name":"sandbox-video","kind":"video","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-video","priority":0,"weight":1}],"priceId":"price_EAG6aCaMPZCl4FkdOK9EOKw8","onDisconnect":"abort","createdAt":1795404209099,"price":{"perSecond":"0.001"}}');
INSERT INTO audits VALUES(13,'audit_mwspb60bpldFrxqOFcLnBRng',1795404209195,'start','model.created','sandbox-rerank',NULL,'{"name":"sandbox-rerank","kind":"rerank","ownedBy":"modelport","targets":[{"provider":"sandbox","model":"sandbox-rerank","priority":0,"weight":1}],"priceId":"price_18h3KjDSYTfY0eG0G7z2iprj","onDisconnect":"abort","createdAt":1795404209099,"price":{"input":"0.02","perCall":"0.0001"}}');
INSERT INTO audits VALUES(14,'audit_mwspb628NP7AEfxPpKZu5Uxe',1795404209264,'file modelport.yaml 33bcead3','provider.created','first',NULL,'{"name":"first","type":"openai-compatible","baseUrl":"http://127.0.0.1:44359/openai/v1","credentials":["…ease"],"settings":{}}');
INSERT INTO audits VALUES(15,'audit_mwspb62nqrgItvkcLPuTHI0T',1795404209279,'file modelport.yaml 33bcead3','model.created','alpha',NULL,'{"name":"alpha","kind":"chat","maxOutputTokens":1000,"targets":[{"provider":"first","model":"m","priority":0,"weight":1}],"priceId":"price_rRS2L4oXlnMMQG27BeVQbpxv","ownedBy":"openai-compatible","onDisconnect":"abort","createdAt":1795404209238,"price":{"input":"1","cachedInput":"0.5","output":"4"}}');
INSERT INTO audits VALUES(16,'audit_mwspb6ct1YpFlZEcS7JwtLEd',1795404209645,'key_vPItncptW8eb8HUDLJAvZvDc','account.created','acct_R5EApQaBGcq4TKgs51OURao0',NULL,'{"id":"acct_R5EApQaBGcq4TKgs51OURao0","name":"test-21931-1","balance":"0","held":"0","createdAt":1795404209645}');
INSERT INTO audits VALUES(17,'audit_mwspb6daMWXfLqzndwjVipvf',1795404209662,'key_vPItncptW8eb8HUDLJAvZvDc','account.topped-up','acct_R5EApQaBGcq4TKgs51OURao0',NULL,'{"amount":"5","seq":1,"note":"test"}');
INSERT INTO audits VALUES(18,'audit_mwspb6dmJOHn5JbdnTaTcTGk',1795404209674,'key_vPItncptW8eb8HUDLJAvZvDc','key.created','key_4hKgrhAl2Xkumk7oRDhTjiCV',NULL,'{"id":"key_4hKgrhAl2Xkumk7oRDhTjiCV","account":"acct_R5EApQaBGcq4TKgs51OURao0","kind":"caller","name":"test","last4":"HfYt","createdAt":1795404209674}');
INSERT INTO audits VALUES(19,'audit_mwspb6dtBwRRSu7pf0vAIxEo',1795404209681,'key_vPItncptW8eb8HUDLJAvZvDc','account.adjusted','acct_R5EApQaBGcq4TKgs51OURao0',NULL,'{"amount":"-0.25","seq":2,"note":"test"}');
INSERT INTO audits VALUES(20,'audit_mwspb6dyYwM5tY1UBVjQBk6m',1795404209686,'key_vPItncptW8eb8HUDLJAvZvDc','account.changed','acct_R5EApQaBGcq4TKgs51OURao0','{"id":"acct_R5EApQaBGcq4TKgs51OURao0","name":"test-21931-1","balance":"4.75","held":"0","createdAt":1795404209645}','{"id":"acct_R5EApQaBGcq4TKgs51OURao0","name":"test-21931-1","balance":"4.75","held":"0","createdAt":1795404209645,"budget":{"month":"100"},"requestsPerMinute":600}');
INSERT INTO audits VALUES(21,'audit_mwspb6eaq0ft3hUvCe4z478w',1795404209698,'key_vPItncptW8eb8HUDLJAvZvDc','code.created','code_EcvgFFeQztTdbMcSCwbYWKZe',NULL,'{"id":"code_EcvgFFeQztTdbMcSCwbYWKZe","last4":"mlAn","amount":"1","createdAt":1795404209698}');
CREATE TABLE responses (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    previous TEXT,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    kept_until INTEGER NOT NULL,
    maker TEXT,
    input TEXT NOT NULL,
    output TEXT NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (account, id)
  ) STRICT;
CREATE TABLE response_items (
    account TEXT NOT NULL,
    item TEXT NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (account, item)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE proofs (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, key)
  ) STRICT;
CREATE TABLE call_sums (
    account TEXT NOT NULL,
    hour INTEGER NOT NULL,
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, saved INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, hour, key, model)
  ) STRICT, WITHOUT ROWID;
INSERT INTO call_sums VALUES('acct_R5EApQaBGcq4TKgs51OURao0',498723,'key_4hKgrhAl2Xkumk7oRDhTjiCV','alpha',3,78000,22,14,0);
INSERT INTO call_sums VALUES('acct_R5EApQaBGcq4TKgs51OURao0',498723,'key_4hKgrhAl2Xkumk7oRDhTjiCV','sandbox-chat',1,13200,4,32,0);
CREATE TABLE kept_from (at INTEGER NOT NULL) STRICT;
INSERT INTO kept_from VALUES(0);
CREATE TABLE codes (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    last4 TEXT NOT NULL,
    amount INTEGER NOT NULL,
    note TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    redeemed_at INTEGER,
    redeemed_by TEXT
  , idempotency_key TEXT) STRICT;
INSERT INTO codes VALUES(1,'code_EcvgFFeQztTdbMcSCwbYWKZe','fab159529bd8ac6ca33f3b69e10a719299c85f48324adf3bab62dc033c35743b','mlAn',1000000000,NULL,1795404209698,NULL,NULL,NULL,NULL);
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    idempotency_key TEXT,
    due_at INTEGER,
    lease TEXT,
    lease_until INTEGER,
    body TEXT NOT NULL,
    request TEXT
  ) STRICT;
CREATE TABLE webhook_secrets (
    account TEXT PRIMARY KEY,
    secret TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE probes (
    name TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
CREATE TABLE config_files (
    fingerprint TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO config_files VALUES('33bcead3','modelport.yaml','vm',1795404209280);
CREATE TABLE ledger_checkpoints (
    signer TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (signer, subject)
  ) STRICT, WITHOUT ROWID;
INSERT INTO ledger_checkpoints VALUES('89822912afb10bdc','account acct_R5EApQaBGcq4TKgs51OURao0','{"seq":5,"hash":"645f02cb0794ddbba9f2a6f525ec26bb89ab11ac64ff5b4f4d5e2ecc6eed0ac8","balance":"4749908800","spent":"91200","counters":{"adjustments":"250000000","revenue":"91200","cash":"-5000000000"}}','0da8b5fa0868983478bf31779b3138b13aa9d9afefdf5a6062dfb1fea7cda253');
INSERT INTO ledger_checkpoints VALUES('89822912afb10bdc','account acct_hU9QTp0UGdxPTMoSmOs2wEkP','{"seq":1,"hash":"369763572203f13d42ce392e956e8cd84334d2616b855bb29c7af7d6cd761ccd","balance":"10000000000","spent":"0","counters":{"cash":"-10000000000"}}','f6970e0b7a5dfaf8f15c5c38a1c90f4d22c4491d03faf3c82fb76dfb0ea4e777');
INSERT INTO ledger_checkpoints VALUES('89822912afb10bdc','hour 498723','{"calls":4,"inputTokens":26,"outputTokens":46,"cost":"91200"}','f1bea5dd4c68ab06e4d86a85c512fab78890fbb7a5c8a2063e3e79ca1edc9d8d');
CREATE TABLE ledger_verifications (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE cached_replies (
    account TEXT NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, hash)
  ) STRICT;
CREATE TABLE unfiled_calls (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    target_model TEXT NOT NULL,
    dialect TEXT NOT NULL,
    upstream_dialect TEXT NOT NULL,
    stream INTEGER NOT NULL,
    status INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    error_code TEXT,
    attempts INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    price_id TEXT NOT NULL,
    usage TEXT,
    duration_ms INTEGER NOT NULL,
    first_byte_ms INTEGER,
    entry_seq INTEGER,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    provisional INTEGER NOT NULL,
    completion_seq INTEGER,
    saved INTEGER NOT NULL,
    charge INTEGER,
    balance_after INTEGER,
    charged_at INTEGER,
    hash TEXT
  ) STRICT;
CREATE INDEX keys_by_account ON keys (account);
CREATE UNIQUE INDEX entries_by_idempotency_key ON entries (account, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX calls_by_account ON calls (account, at);
CREATE UNIQUE INDEX keys_by_prior_hash ON keys (prior_hash) WHERE prior_hash IS NOT NULL;
CREATE INDEX audits_by_subject ON audits (subject);
CREATE INDEX responses_by_previous ON responses (account, previous) WHERE previous IS NOT NULL;
CREATE INDEX responses_by_expiry ON responses (expires_at);
CREATE INDEX responses_by_end ON responses (kept_until);
CREATE INDEX response_items_by_response ON response_items (account, response);
CREATE INDEX proofs_by_expiry ON proofs (expires_at);
CREATE UNIQUE INDEX accounts_by_name ON accounts (name);
CREATE INDEX calls_by_time ON calls (at);
CREATE INDEX entries_by_corrected_call ON entries (call_id) WHERE call_id IS NOT NULL AND kind <> 'charge';
CREATE UNIQUE INDEX tasks_by_key ON tasks (account, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX tasks_by_account ON tasks (account, created_at, id);
CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX tasks_leased ON tasks (lease) WHERE lease IS NOT NULL;
CREATE UNIQUE INDEX codes_by_idempotency_key ON codes (idempotency_key);
CREATE INDEX calls_disputed ON calls (at, id) WHERE outcome = 'disputed';
CREATE INDEX call_sums_by_hour ON call_sums (hour);
CREATE INDEX cached_replies_by_expiry ON cached_replies (expires_at);
CREATE INDEX cached_replies_by_age ON cached_replies (account, at, hash, bytes);
COMMIT;
PRAGMA user_version = 21;
