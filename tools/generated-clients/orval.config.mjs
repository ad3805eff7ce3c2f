import process from 'node:process';

/** Where the document is, and the folder for what is made of it, are told by the environment: orval takes no other arguments. */
const { OPENAPI: target, OUTPUT: folder } = process.env;

export default {
  pms: {
    input: { target },
    output: { mode: 'tags-split', target: `${folder}/client.ts`, schemas: `${folder}/model`, client: 'fetch', baseUrl: '/v1' },
  },
};
