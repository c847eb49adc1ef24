exec streamlit run app.py --server.address localhost --server.port "$PORT" --server.headless true --browser.gatherUsageStats false
