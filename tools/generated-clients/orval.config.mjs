import process from 'node:process';

/** The environment names the document and the folder for its output: orval accepts no other arguments. */
const { OPENAPI: target, OUTPUT: folder } = process.env;

export default {
  pms: {
    input: { target },
    output: { mode: 'tags-split', target: `${folder}/client.ts`, schemas: `${folder}/model`, client: 'fetch', baseUrl: '/v1' },
  },
};
